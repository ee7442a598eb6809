/** One recall: what each leg found, how that was put together, and what was dropped on the way. */
import { useState } from "preact/hooks";
import { api, ours, type Schema } from "../../api.ts";
import { Item } from "../../item.tsx";
import { useLoad } from "../../load.ts";
import { Badge, Busy, Empty, ErrorNote, Text, Time } from "../../parts/index.ts";
import { href } from "../../place.ts";
import { asked, type Recall } from "./recalls.tsx";
import { flag, words } from "./why.ts";
import { WhyNot } from "./whynot.tsx";

type Hit = Schema["RecordedHitView"];
type Measured = Partial<Record<keyof Schema["ComponentsView"] | "lexical" | "vector", number>>;

const measured = (hit: Hit): Measured => hit.components ?? hit.found ?? {};
const short = (value: number | undefined, digits = 2) => value?.toFixed(digits) ?? "";
const PRIORS = [["recency", "how new"], ["importance", "importance"], ["kind", "kind"]] as const;

export function One({ id }: { id: string }) {
  const { value, error, loading, reload } = useLoad((call) => api.get<Recall>(ours`/recalls/${id}`, call), [id]);
  return (
    <>
      <p><a href={href(["recall"])}>All recalls</a></p>
      <ErrorNote error={error} retry={reload} />
      {value ? <Shown recall={value} /> : loading && <Busy />}
    </>
  );
}

function Shown({ recall }: { recall: Recall }) {
  const hits = recall.hits.filter((hit) => hit.outcome === "returned").sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
  const dropped = new Map<string, Hit[]>();
  for (const hit of recall.hits) if (hit.outcome !== "returned") dropped.set(hit.outcome, [...(dropped.get(hit.outcome) ?? []), hit]);
  const question = asked.get(recall.id);
  return (
    <>
      <h2>{question ? <Text value={question} most={300} /> : <>Recall of <Time at={recall.at} /></>}</h2>
      <p class="line dim">
        <b>{hits.length} of {recall.hits.length} candidates</b>
        <span>{recall.mode === "tool" ? "asked by a tool" : "asked for a prompt"}</span>
        {recall.session_id && <span>in <a href={href(["prompt"], { session: recall.session_id })}>{recall.session_id}</a></span>}
        {recall.scope !== "all" && <span>searched: {recall.scope}</span>}
        {recall.as_of && <span>as of <Time at={recall.as_of} /></span>}
        <span>{Math.round(recall.elapsed_ms)} of {recall.budget_ms} ms</span>
        {recall.degraded.map((one) => <Badge kind="bad">{flag(one)}</Badge>)}
      </p>
      <p class="line"><Leg name="Keyword leg" leg={recall.legs.lexical} /> <Leg name="Vector leg" leg={recall.legs.vector} /></p>
      {hits.length ? <Hits hits={hits} /> : <Empty>{recall.hits.length ? "Everything that was found was dropped: see why below." : "Neither leg found anything."}</Empty>}
      <WhyNot recall={recall.id} />
      {dropped.size > 0 && <h2>Dropped, and why</h2>}
      {[...dropped].sort(([, one], [, other]) => other.length - one.length).map(([reason, of]) => <Dropped reason={reason} hits={of} />)}
    </>
  );
}

function Leg({ name, leg }: { name: string; leg: Schema["LegView"] | undefined }) {
  if (!leg) return null;
  const { status, depth, ms, late } = leg;
  return <span>{name} <Badge kind={status === "complete" ? "good" : "bad"}>{late ? "out of time" : status}</Badge> <span class="dim">best {depth}, {Math.round(ms)} ms</span></span>;
}

function Hits({ hits }: { hits: Hit[] }) {
  const reranked = hits.some((hit) => hit.components?.rerank !== undefined);
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Hits">
      <table class="legs">
        <thead>
          <tr>
            <th scope="col">#</th><th scope="col">Hit</th><th scope="col">Keyword</th><th scope="col">Vector</th>
            <th scope="col" title="Reciprocal rank fusion of both legs">Fused</th><th scope="col">× prior</th><th scope="col">= final</th>
            {reranked && <th scope="col" title="Log odds of the rerank stage, which orders the hits">Reranked</th>}
          </tr>
        </thead>
        <tbody>
          {hits.map((hit) => {
            const of = measured(hit);
            return (
              <tr>
                <td class="number">{hit.rank}</td>
                <td class="what"><Item id={hit.id} />{hit.reply_to && <p class="dim">in reply to <Item id={hit.reply_to} /></p>}</td>
                <td><Place rank={of.rank_lex} score={of.bm25} note="BM25" /></td>
                <td><Place rank={of.rank_vec} score={of.sim_cal ?? of.sim_raw} note={`calibrated similarity, cosine ${short(of.sim_raw)}`} /></td>
                <td class="number">{short(of.rrf, 4)}</td>
                <td><span class="number">{short(of.prior)}</span>{PRIORS.filter(([part]) => of[part] !== undefined && of[part] !== 1).map(([part, name]) => <small class="dim">{name} {short(of[part])}</small>)}</td>
                <td class="number">{short(of.final, 4)}{of.lent !== undefined && <small class="dim">lent {short(of.lent, 4)}</small>}</td>
                {reranked && <td class="number">{short(of.rerank)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Which place in a leg, with its score. */
export function Place({ rank, score, note }: { rank?: number | undefined; score?: number | undefined; note: string }) {
  if (rank === undefined && score === undefined) return <span class="dim">not found</span>;
  return <span class="number" title={note}>{rank !== undefined && <b>#{rank} </b>}{short(score)}</span>;
}

/** Its rows are read when it is opened: there may be a hundred. */
function Dropped({ reason, hits }: { reason: string; hits: Hit[] }) {
  const [open, set] = useState(false);
  return (
    <details onToggle={(event) => set(event.currentTarget.open)}>
      <summary>{words(reason)} <Badge>{hits.length}</Badge></summary>
      {open && hits.map((hit) => {
        const of = measured(hit);
        return (
          <div class="line row">
            <span class="grow"><Item id={hit.id} /></span>
            <span>keyword <Place rank={of.rank_lex} score={of.bm25 ?? of.lexical} note="BM25" /></span>
            <span>vector <Place rank={of.rank_vec} score={of.sim_raw ?? of.vector} note="cosine" /></span>
          </div>
        );
      })}
    </details>
  );
}
