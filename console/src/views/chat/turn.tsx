/** What one turn did: the prompt that was compiled for it, what was recalled, and what became memory. */
import { api, ours, type Schema } from "../../api.ts";
import { Item } from "../../item.tsx";
import { useLoad } from "../../load.ts";
import { Badge, ErrorNote, Text, Tokens } from "../../parts/index.ts";
import { href } from "../../place.ts";
import { may } from "../../token.ts";
import { flag } from "../recall/why.ts";

type Changed = { row: Schema["MemoryView"]; how: string };
export type Made = {
  n: number;
  message: string;
  prompt?: Schema["ContextOut"] | undefined;
  degraded: string[];
  problem?: string | undefined;
  /** sha256 of the pack: its ETag. */
  pack?: string | undefined;
  version?: number | undefined;
  stage: "answer" | "observe" | "done" | "late";
  changed: Changed[];
  /** What was kept of the session before it. */
  before: Map<string, Schema["MemoryView"]>;
};

const STAGES = { answer: "when it is answered", observe: "being observed…", done: "", late: "not observed yet" };

export function Turn({ turn, before }: { turn: Made; before: Made | undefined }) {
  const { prompt, stage, changed, pack, version } = turn;
  const report = prompt?.report;
  return (
    <article class="box">
      <h2><Text value={turn.message} most={120} brief /></h2>
      {turn.problem && <p class="bad"><Text value={turn.problem} /></p>}
      <p>{turn.degraded.map((one) => <Badge kind="bad">{flag(one)}</Badge>)}</p>
      <dl>
        <dt>Prompt</dt>
        <dd>{report && <><Tokens count={report.used} />, of which <Tokens count={report.stable_prefix_tokens} /> stand in front of the message</>} <a href={href(["prompt"])}>what the model saw</a></dd>
        <dt>Prefix</dt>
        <dd aria-live="polite"><Prefix pack={pack} before={before?.pack} changed={report?.prefix_changed === true || report?.history?.epoch_changed === true} /> <a href={href(["packs"])}>pack {version && `v${version}`}</a> {pack && <code title="ETag of the pack">{pack.slice(0, 8)}</code>}</dd>
        <dt>Recalled</dt>
        <dd>{prompt?.recall_id ? <Hits id={prompt.recall_id} /> : "nothing was searched"}</dd>
        <dt>Remembered</dt>
        <dd aria-live="polite">
          {STAGES[stage]}
          {stage === "done" && !changed.length && (may("records") ? "nothing of it" : "observed; this token reads no memories")}
          {changed.map(({ row, how }) => (
            <p>
              <Badge kind={how === "new" ? "good" : ""}>{row.status === "active" ? how : row.status}</Badge> <a class="plain" href={href(["memory", row.id])}><Text value={row.text} most={300} /></a> <Badge>{row.label ?? row.kind}</Badge>
              {row.supersedes?.map((id) => <span class="dim"><br />in place of <Item id={id} /></span>)}
            </p>
          ))}
        </dd>
      </dl>
    </article>
  );
}

function Prefix({ pack, before, changed }: { pack: string | undefined; before: string | undefined; changed: boolean }) {
  if (!pack) return <span class="dim">no pack yet</span>;
  if (changed || (before && before !== pack)) return <Badge kind="bad">changed: the cache is written again</Badge>;
  return before ? <Badge kind="good">the same</Badge> : <Badge>the first here</Badge>;
}

function Hits({ id }: { id: string }) {
  const { value, error } = useLoad((call) => api.get<Schema["RecallRecordView"]>(ours`/recalls/${id}`, call), [id]);
  const hits = value?.hits.filter((hit) => hit.outcome === "returned") ?? [];
  return (
    <>
      <ErrorNote error={error} />
      {hits.map((hit) => <p><Item id={hit.id} /></p>)}
      {value && !hits.length && "nothing that the prompt does not say already "} <a href={href(["recall", id])}>why</a>
    </>
  );
}
