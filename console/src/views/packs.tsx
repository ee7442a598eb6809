/** The versions of a session's pack: when each was built and why, what it changed, and what the change cost. */
import "./packs.css";
import { useState } from "preact/hooks";
import { api, ours, type Schema } from "../api.ts";
import { useLoad, usePages } from "../load.ts";
import { Badge, Busy, Chart, count, Diff, Empty, ErrorNote, money, Text, Time, Tokens } from "../parts/index.ts";
import { href, place, session } from "../place.ts";
import { may } from "../token.ts";

type Version = Schema["PackVersionOut"];
type Price = { cache_read: number; cache_write: number };
type Cost = { tokens: number; usd?: number | undefined; measured: boolean };

const TRIGGERS: Record<string, string> = { initial: "first pack", reflection: "memories folded or taken back", horizon: "a compaction" };
const LAYERS = ["always", "profile", "global", "local"] as const;
const entries = (of: Version) => LAYERS.flatMap((layer) => of.layers[layer]);

export function Packs() {
  const { rows, loading, error, more, reload } = usePages<Version>(ours`/pack/versions`, "versions", { session_id: session.value, limit: 50 }, 50);
  const costs = useCosts();
  const chosen = rows.findIndex((row) => String(row.pack_version) === place.value.path[1]);
  const at = Math.max(0, chosen);
  const shown = rows[at];
  const oldest = rows.toReversed();
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {!shown && (loading ? <Busy /> : error || <Empty>No pack was built for this session yet: its first prompt, or the read of its pack, builds one.</Empty>)}
      {rows.length > 1 && <div class="narrow"><Chart label="Tokens of the pack by layer" kind="bars" format={count} x={oldest.map((row) => `v${row.pack_version}`)} series={LAYERS.map((layer) => ({ name: layer, values: oldest.map((row) => row.layers[layer].reduce((sum, one) => sum + one.tokens, 0)) }))} /></div>}
      {shown && (
        <div class="wide" tabIndex={0} role="group" aria-label="Versions">
          <table>
            <thead><tr><th scope="col">Version</th><th scope="col">Built</th><th scope="col">Because of</th><th scope="col">Tokens</th><th scope="col">Rows</th><th scope="col">Cost of the change</th></tr></thead>
            <tbody>{rows.map((row, n) => <Row row={row} before={rows[n + 1]} cost={costs(row)} here={n === at} />)}</tbody>
          </table>
        </div>
      )}
      {more && <button type="button" class="link" onClick={more}>load older ones</button>}
      {shown && <One key={shown.pack_version} shown={shown} before={rows[at + 1]} />}
    </>
  );
}

/** What a provider reported is what it cost; else it is at least the pack, written anew, at the price of the policy's model. */
function useCosts(): (of: Version) => Cost {
  const { value: of } = useLoad((call) => api.get<Schema["SessionOut"]>(ours`/sessions/${session.value}`, call), [session.value]);
  const { value: policy } = useLoad(async (call) => (may("admin") ? (await api.get<Schema["PolicyOut"]>("/policy", call)).in_force : {}), []);
  const price = (policy?.price_table as Record<string, Price> | undefined)?.[String(policy?.chat_model)];
  return ({ pack_version, tokens }) => {
    const told = of?.usage?.last_pack_changes.find((change) => change.pack_version === pack_version);
    return told ? { tokens: told.cache_writes, usd: told.cost_usd, measured: true } : { tokens, usd: price && (tokens * (price.cache_write - price.cache_read)) / 1e6, measured: false };
  };
}

function Row({ row, before, cost, here }: { row: Version; before: Version | undefined; cost: Cost; here: boolean }) {
  const now = new Map(entries(row).map((one) => [one.id, one.rev]));
  const then = new Map((before ? entries(before) : []).map((one) => [one.id, one.rev]));
  const added = [...now.keys()].filter((id) => !then.has(id)).length;
  const removed = [...then.keys()].filter((id) => !now.has(id)).length;
  const changed = [...now].filter(([id, rev]) => then.has(id) && then.get(id) !== rev).length;
  const grown = row.tokens - (before?.tokens ?? 0);
  return (
    <tr class={here ? "here" : ""}>
      <th scope="row"><a href={href(["packs", String(row.pack_version)])} aria-current={here}>v{row.pack_version}</a></th>
      <td class="number"><Time at={row.built_at} /></td>
      <td>{TRIGGERS[row.trigger] ?? row.trigger}</td>
      <td><Tokens count={row.tokens} />{before && <span class="number dim"> {grown < 0 ? "−" : "+"}{count(Math.abs(grown))}</span>}</td>
      <td class="number"><span class="good">+{added}</span> {removed > 0 && <span class="bad">−{removed}</span>} {changed > 0 && <span>~{changed}</span>}</td>
      <td title={cost.measured ? "As the provider's usage was reported" : "The pack alone, written to the cache again; the conversation behind it comes to it"}>
        {cost.measured ? "" : "≥ "}<Tokens count={cost.tokens} /> {cost.usd !== undefined && <b class="number">{money(cost.usd)}</b>} {cost.measured && <Badge kind="good">reported</Badge>}
      </td>
    </tr>
  );
}

function One({ shown, before }: { shown: Version; before: Version | undefined }) {
  const [whole, show] = useState(false);
  const { pack_version: to, session_id, left_out, also_left_out = 0 } = shown;
  const from = before?.pack_version;
  const diff = useLoad(async (call) => (from === undefined ? undefined : api.get<Schema["PackDiffOut"]>(ours`/pack/diff`, { ...call, query: { session_id, from, to } })), [from, to]);
  const out = (left_out?.length ?? 0) + also_left_out;
  return (
    <>
      <h2>{from === undefined ? `v${to}, the first` : `v${from} → v${to}`}</h2>
      {out > 0 && <p class="bad">{out} had no room in it.</p>}
      <ErrorNote error={diff.error} retry={diff.reload} />
      {diff.value ? <Lines diff={diff.value} /> : diff.loading && <Busy />}
      <details open={from === undefined} onToggle={(event) => show(event.currentTarget.open)}>
        <summary>The whole text of v{to}</summary>
        {whole && <Whole version={to} />}
      </details>
    </>
  );
}

/** A unified diff as the two texts that it is of, with their surroundings only. */
function Lines({ diff }: { diff: Schema["PackDiffOut"] }) {
  const lines = diff.unified.split("\n").filter((line) => line && !/^(---|\+\+\+)( |$)/.test(line));
  const side = (other: string) => lines.filter((line) => line[0] !== other).map((line) => (line[0] === "@" ? "…\n" : `${line.slice(1)}\n`)).join("");
  const many = (sign: string) => lines.filter((line) => line[0] === sign).length;
  return (
    <>
      <p role="status">Lines: <span class="good">{many("+")} added</span>, <span class="bad">{many("-")} removed</span>{!diff.unified_complete && ". There are more than an answer holds."}</p>
      <div class="box"><Diff before={side("+")} after={side("-")} by="lines" /></div>
    </>
  );
}

function Whole({ version }: { version: number }) {
  const { value, error, loading, reload } = useLoad((call) => api.get<Schema["PackOut"]>(ours`/pack`, { ...call, query: { session_id: session.value, version } }), [version]);
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {value?.text ? <div class="box"><Text value={value.text} most={20_000} /></div> : loading ? <Busy /> : value && <Empty>The pack is empty: nothing was remembered then.</Empty>}
    </>
  );
}
