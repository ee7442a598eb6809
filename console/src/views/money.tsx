/** What the prompts cost and what the cache did for them, day by day; what Neve's own models cost beside it. */
import { useSignal } from "@preact/signals";
import { api, ours, type Schema } from "../api.ts";
import { ChooseUser } from "../choose.tsx";
import { useLoad, usePages } from "../load.ts";
import { Busy, Chart, count, Empty, ErrorNote, Field, money, Text } from "../parts/index.ts";
import { Row, Table } from "../parts/table.tsx";
import { Tiles } from "../parts/tiles.tsx";
import { href, place, put, user } from "../place.ts";

type Sums = Schema["PromptCacheOut"];
type Price = Schema["ModelPrice"];

const RANGES = [["7", "the last 7 days"], ["30", "the last 30 days"], ["92", "the last 92 days"]] as const;
const COLLAPSES: Record<string, string> = {
  ttl_expired: "the pause was longer than the cache lives",
  pack_changed: "the pack was rebuilt",
  compacted: "the history was compacted",
  prefix_changed: "the model, or what stands before the pack, changed",
  unknown: "not known: the provider dropped it, or the prompt changed where Neve cannot see it",
};
const DAY_MS = 86_400_000;

export function Costs() {
  const { days = "30", of } = place.value.query;
  const range = useSignal(days);
  const one = of !== "all" && user.value;
  const read = useLoad<Schema["TenantUsageOut"] | Schema["StatsOut"]>((asked) => api.get(one ? ours`/stats` : "/usage", { ...asked, query: { days } }), [days, one]);
  const models = useLoad(async (asked) => ({ policy: await api.get<Schema["PolicyOut"]>("/policy", asked), health: await api.get<Schema["HealthOut"]>("/health", asked) }), []);
  if (of === "one" && !user.value) return <ChooseUser />;
  const found = read.value;
  const byDay = found && everyDay(found.prompt_cache_days, Number(days));
  const sum = byDay?.map(({ prompt_cache }) => prompt_cache).reduce(plus, NONE);
  return (
    <>
      <div class="line">
        <Field label="Time" options={[...RANGES]} value={range} onChange={(value) => put({ days: value })} />
        <p class="line">
          {one ? <><b>Only <Text value={one} most={60} /></b><a href={href(["money"], { days, of: "all" })}>everybody</a></> : <><b>Everybody</b><a href={href(["money"], { days, of: user.value ? "" : "one" })}>one user</a></>}
        </p>
      </div>
      <ErrorNote error={read.error} retry={read.reload} />
      <ErrorNote error={models.error} retry={models.reload} />
      {!found || !byDay || !sum ? (
        read.loading && <Busy />
      ) : (
        <>
          {!found.complete && <p class="bad">There is more than one call can add up: each number is the least that it may be.</p>}
          <h2>Prompts</h2>
          {sum.reports ? <Prompts sum={sum} days={byDay} /> : <Empty>No prompt was reported in this time. After each answer of your model send its usage: POST /v1/users/…/usage.</Empty>}
          {models.value && <Models usage={found.usage} ever={found.prompt_cache} {...models.value} />}
          {one && <Sessions />}
        </>
      )}
    </>
  );
}

function Prompts({ sum, days }: { sum: Sums; days: Schema["PromptDayOut"][] }) {
  const { tokens, collapses } = sum;
  const { cost_usd: cost, saved_usd_no_cache: saved, saved_usd_rebuilt_pack: frozen } = sum.money ?? { cost_usd: 0, saved_usd_no_cache: 0, saved_usd_rebuilt_pack: 0 };
  const x = days.map(({ date }) => date);
  const each = (value: (day: Sums) => number) => days.map(({ prompt_cache }) => value(prompt_cache));
  const broken = Object.entries(collapses).filter(([, times]) => times);
  return (
    <>
      <Tiles
        of={[
          ...(sum.money ? [
            { name: "Paid", value: money(cost), note: `${money(cost + saved)} without a cache` },
            { name: saved < 0 ? "Lost by the cache" : "Saved by the cache", value: money(Math.abs(saved)), note: share(saved, cost + saved), kind: saved < 0 ? "bad" as const : "good" as const },
            { name: "Saved by a pack that stays", value: money(frozen), note: "against one rebuilt every turn" },
          ] : []),
          { name: "Read from the cache", value: percent(tokens.cache_read, prompt(tokens)), note: `${count(tokens.cache_read)} of ${count(prompt(tokens))} tokens` },
          { name: "Prompts", value: count(sum.reports), note: sum.unpriced_reports ? `${count(sum.unpriced_reports)} of a model without a price: in no sum of money` : "" },
          { name: "Changes of the pack", value: count(sum.pack_changes.count), note: sum.pack_changes.cost_usd !== undefined && `cost ${money(sum.pack_changes.cost_usd)}` },
        ]}
      />
      <div class="two">
        {sum.money && <Chart label="US dollars a day" x={x} format={money} series={[{ name: "paid", values: each((day) => day.money?.cost_usd ?? 0) }, { name: "saved by the cache", values: each((day) => Math.max(0, day.money?.saved_usd_no_cache ?? 0)) }]} />}
        <Chart label="Tokens of prompts a day" x={x} format={count} series={[{ name: "not cached", values: each((day) => day.tokens.input) }, { name: "written", values: each((day) => day.tokens.cache_write) }, { name: "read", values: each((day) => day.tokens.cache_read) }]} />
      </div>
      {broken.length > 0 && (
        <>
          <h3>When the cache gave less than half of what it held</h3>
          <ul>{broken.map(([why, times]) => <li><b>{times} ×</b> {COLLAPSES[why] ?? why}</li>)}</ul>
        </>
      )}
    </>
  );
}

/** What was reported, what the observer used, and what the vectors took: since the beginning, as nothing of it is kept by day. */
function Models({ usage, ever, policy, health }: { usage: Schema["UsageOut"]; ever: Sums; policy: Schema["PolicyOut"]; health: Schema["HealthOut"] }) {
  const table = policy.in_force.price_table as Record<string, Price>;
  const price = priceOf(health.observer, table);
  const { model_input_tokens: input, model_cache_read_tokens: read, model_cache_write_tokens: written, model_output_tokens: output } = usage;
  const { model_batch_input_tokens: batchIn, model_batch_output_tokens: batchOut } = usage;
  const uncached = input - read - written;
  const chat = policy.in_force.chat_model as string | undefined;
  return (
    <>
      <h2>Models, since the beginning</h2>
      <Table label="Models" head={["Model", "does", "calls", "tokens in", "tokens out", "US dollars"]}>
        <Row name={<Text value={chat ?? "your model"} />}>
          <td>answers your users</td><Figures of={[ever.reports, prompt(ever.tokens), ever.tokens.output, ever.money ? money(ever.money.cost_usd) : "no price"]} />
        </Row>
        <Row name={<Text value={health.observer} />}>
          <td>observes and reflects</td>
          <Figures of={[usage.model_calls, input, output, price ? `about ${money((uncached * price.input + read * price.cache_read + written * price.cache_write + output * price.output - (batchIn * price.input + batchOut * price.output) / 2) / 1e6)}` : usage.model_calls ? "no price" : money(0)]} />
        </Row>
        <Row name={<Text value={health.embedder.model} />}>
          <td>makes vectors, {count(usage.reused_vectors)} reused</td><Figures of={[usage.embedded_texts, "", "", "runs in the service"]} />
        </Row>
      </Table>
      <details>
        <summary>Prices for a million tokens</summary>
        <Table label="Prices" head={["Model", "input", "read", "written", "output", "as of"]}>
          {Object.entries(table).map(([name, one]) => (
            <Row name={<Text value={name} />}><Figures of={[one.input, one.cache_read, one.cache_write, one.output].map(money)} /><td>{one.as_of ? <Text value={one.as_of} /> : "your policy"}</td></Row>
          ))}
        </Table>
      </details>
    </>
  );
}

const Figures = ({ of }: { of: (number | string)[] }) => <>{of.map((one) => <td class="number">{typeof one === "number" ? count(one) : one}</td>)}</>;

function Sessions() {
  const { rows, error, reload } = usePages<Schema["SessionOut"]>(ours`/sessions`, "sessions");
  const dearest = rows.filter(({ usage }) => usage?.reports).sort((one, other) => cost(other) - cost(one)).slice(0, 20);
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {dearest.length > 0 && (
        <>
          <h2>Dearest conversations</h2>
          <Table label="Conversations" head={["Conversation", "prompts", "read", "saved", "US dollars"]}>
            {dearest.map((row) => (
              <Row name={<a href={href(["packs"], { session: row.id })}><Text value={row.title ?? row.thread_title ?? row.id} most={80} brief /></a>}>
                <Figures of={[row.usage?.reports ?? 0, percent(row.usage?.hit_rate ?? 0, 1), row.usage?.money ? money(row.usage.money.saved_usd_no_cache) : "", row.usage?.money ? money(cost(row)) : "no price"]} />
              </Row>
            ))}
          </Table>
        </>
      )}
    </>
  );
}

const cost = (row: Schema["SessionOut"]) => row.usage?.money?.cost_usd ?? 0;
const prompt = (tokens: Schema["TokensOut"]) => tokens.input + tokens.cache_read + tokens.cache_write;
const percent = (part: number, whole: number) => `${whole ? Math.round((part / whole) * 100) : 0} %`;
const share = (saved: number, whole: number) => whole > 0 && `${percent(Math.abs(saved), whole)} of what it would have cost`;

const NONE: Sums = { reports: 0, unpriced_reports: 0, tokens: { input: 0, cache_read: 0, cache_write: 0, output: 0 }, pack_changes: { count: 0, cache_writes: 0 }, collapses: { pack_changed: 0, compacted: 0, ttl_expired: 0, prefix_changed: 0, unknown: 0 } };

/** Both, number by number and as deep as they are. */
function plus<T extends object>(one: T, other: T): T {
  const sum = { ...one } as Record<string, unknown>;
  for (const [name, value] of Object.entries(other)) {
    const before = sum[name];
    sum[name] = typeof value === "number" ? value + ((before as number | undefined) ?? 0) : plus((before ?? {}) as object, value as object);
  }
  return sum as T;
}

/** Days without a report are days, too: else a chart would put a week's pause beside the day before it. */
function everyDay(found: Schema["PromptDayOut"][], days: number): Schema["PromptDayOut"][] {
  const known = new Map(found.map((day) => [day.date, day]));
  return Array.from({ length: days }, (_, at) => {
    const date = new Date(Date.now() - (days - 1 - at) * DAY_MS).toISOString().slice(0, 10);
    return known.get(date) ?? { date, prompt_cache: NONE };
  });
}

/** By name, without the vendor before it and the date of a snapshot behind. */
function priceOf(model: string, table: Record<string, Price>): Price | undefined {
  const name = model.toLowerCase().split(/[/:]/).pop() ?? "";
  return table[model] ?? table[name] ?? table[name.replace(/[-@]\d{8}$|-latest$/, "")];
}
