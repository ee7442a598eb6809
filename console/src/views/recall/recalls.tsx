/** What was recalled lately, and a box to try a question. */
import "./recall.css";
import { useSignal } from "@preact/signals";
import { api, ours, type Schema } from "../../api.ts";
import { Item, linkOf, tell } from "../../item.tsx";
import { usePages } from "../../load.ts";
import { Act, Badge, Busy, Empty, ErrorNote, Field, Time, Window } from "../../parts/index.ts";
import { go, href, place, session } from "../../place.ts";
import { One } from "./one.tsx";
import { flag } from "./why.ts";

export type Recall = Schema["RecallRecordView"];
/** Each row has all its candidates with it. */
const PAGE = 50;

/** The question is in no ledger: it is known for as long as the page is, of those that were asked here. */
export const asked = new Map<string, string>();

export function Recalls() {
  const id = place.value.path[1];
  return id ? <One key={id} id={id} /> : <List />;
}

function List() {
  const { rows, loading, error, more, reload } = usePages<Recall>(ours`/recalls`, "recalls", { limit: PAGE }, PAGE);
  const here = useSignal(session.value ? "session" : "");
  const shown = here.value ? rows.filter((row) => row.session_id === session.value) : rows;
  return (
    <>
      <Try />
      <div class="line" style={{ alignItems: "end" }}>
        <h2 class="grow">Newest recalls</h2>
        {session.value && <Field label="Of" value={here} options={[["session", "this session"], ["", "every session"]]} />}
      </div>
      <ErrorNote error={error} retry={reload} />
      {shown.length > 0 ? (
        <Window rows={shown} height={64} label="Recalls" id={(row) => row.id} render={(row) => <Row row={row} />} onOpen={(row) => go(["recall", row.id])} />
      ) : loading ? <Busy /> : <Empty>Nothing was recalled here in 90 days. Ask something above, or compile a prompt.</Empty>}
      {more && <button type="button" class="link" onClick={more}>load older ones</button>}
    </>
  );
}

function Row({ row }: { row: Recall }) {
  const hits = row.hits.filter((hit) => hit.outcome === "returned");
  return (
    <>
      <div class="line">
        <a href={href(["recall", row.id])} tabIndex={-1}><Time at={row.at} /></a>
        {hits[0] ? <span class="grow"><Item id={hits[0].id} brief /></span> : <span class="grow dim">{row.result_state === "none" ? "nothing found" : "nothing could be searched"}</span>}
      </div>
      <div class="line dim">
        <span>{hits.length} of {row.hits.length} candidates</span>
        <Badge>{row.mode === "tool" ? "by a tool" : "for a prompt"}</Badge>
        {row.degraded.map((one) => <Badge kind="bad">{flag(one)}</Badge>)}
        {row.session_id}
      </div>
    </>
  );
}

/** Enter in a form is its button. */
export const press = (event: Event) => {
  event.preventDefault();
  (event.currentTarget as HTMLElement).querySelector<HTMLButtonElement>("button.main")?.click();
};

function Try() {
  const query = useSignal("");
  const mode = useSignal("prompt");
  const run = async () => {
    const body = { query: query.value, mode: mode.value, ...(session.value && { session_id: session.value }) };
    const answer = await api.ask<Schema["RecallView"]>(ours`/recall`, body);
    for (const hit of answer.hits) tell(hit.id, { text: hit.text, note: hit.speaker ?? hit.path ?? hit.kind, to: linkOf(hit.id) });
    if (!answer.recall_id) throw new Error(`The recall was not kept, so there is nothing to show of it: ${answer.degraded.map(flag).join(", ")}`);
    asked.set(answer.recall_id, query.value);
    go(["recall", answer.recall_id]);
  };
  return (
    <form class="filters" onSubmit={press}>
      <Field label={session.value ? "Try a question, asked in this session" : "Try a question"} value={query} />
      <Field label="As" value={mode} options={[["prompt", "a prompt does"], ["tool", "a tool does"]]} />
      <Act act={run} class="main" disabled={!query.value.trim()}>Recall</Act>
    </form>
  );
}
