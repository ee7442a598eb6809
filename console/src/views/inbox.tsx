/** What waits for a person: facts that may not state themselves, and changes of documents. One decides, and it is decided for all. */
import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { api, isConflict, ours, type Schema } from "../api.ts";
import { useLoad, usePages } from "../load.ts";
import { Act, Busy, count, Diff, Empty, ErrorNote, Field, Text, Time } from "../parts/index.ts";
import { href } from "../place.ts";
import { seqs } from "./memory/copies.tsx";
import { BY, CATEGORIES, choices, Marks, type Memory, STATUSES } from "./memory/words.tsx";
import "./memory/memory.css";

type Item = Schema["InboxItem"];
type Decision = "approve" | "edit" | "reject" | "supersede";
/** `typed`: what a person had written into a form that nobody can send any more. */
type Told = { item: Item; words: string; bad?: boolean; typed?: string };

const DONE: Record<Decision, string> = { approve: "Accepted", edit: "Accepted as edited", reject: "Rejected", supersede: "Accepted in the place of the other" };
const PAGE = 100;

export function Inbox() {
  const { rows, error, loading, more, reload, edit } = usePages<Item>(ours`/inbox`, "items", {}, PAGE);
  const [told, tell] = useState<Told>();
  const decided = (next: Told) => {
    tell(next);
    edit((before) => before.filter((one) => one.id !== next.item.id));
    if (next.bad) reload();
  };
  return (
    <>
      <h2>{count(rows.length)}{more && "+"} {rows.length === 1 ? "waits" : "wait"} for a decision</h2>
      <div role="status">{told && <Outcome told={told} />}</div>
      <ErrorNote error={error} retry={reload} />
      {rows.map((item) => <One key={item.id} item={item} onDecided={decided} />)}
      {rows.length === 0 && (loading ? <Busy /> : <Empty>Nothing waits. What a tool said, what contradicts a fact, and what the policy sends here waits in this place until somebody decides.</Empty>)}
      {more && <button type="button" onClick={more}>Load more</button>}
    </>
  );
}

const said = ({ memory, document }: Item) => memory?.text ?? document?.text ?? document?.path ?? "";

function Outcome({ told: { item, words, bad, typed } }: { told: Told }) {
  return (
    <div class={bad ? "error" : "box"}>
      <p>
        <b>{words}</b> {item.memory ? <a href={href(["memory", item.memory.id])}><Text value={said(item)} most={200} brief /></a> : <Text value={said(item)} most={200} brief />}
      </p>
      {typed !== undefined && <><p>What you had typed:</p><pre><Text value={typed} /></pre></>}
    </div>
  );
}

function One({ item, onDecided }: { item: Item; onDecided: (told: Told) => void }) {
  const { memory, document } = item;
  const [edits, open] = useState(false);
  const text = useSignal(said(item));
  const path = useSignal(document?.to_path ?? document?.path ?? "");
  const category = useSignal(memory?.category ?? "");
  const other = memory?.judged?.target_id;
  const moves = document?.action === "move";
  const typed = {
    ...(!moves && text.value !== said(item) && { text: text.value }),
    ...(document && path.value !== (document.to_path ?? document.path) && { path: path.value }),
    ...(memory && category.value !== memory.category && { category: category.value }),
  };
  const decide = (decision: Decision, body: object = {}) => async () => {
    await api.post<Item>(`${ours`/inbox/${item.id}`}/${decision}`, body);
    onDecided({ item, words: `${DONE[decision]}:` });
  };
  /** Of a document a conflict may also mean that it has moved on: then the item waits still, and says so itself. */
  const caught = (error: unknown) => {
    if (!isConflict(error)) return false;
    void nowOf(item).then((words) => onDecided({ item, words: words ? `Somebody else has decided this already: ${words}.` : error.message, bad: true, ...(edits && "text" in typed && { typed: text.value }) }));
    return true;
  };
  return (
    <article class="box" aria-label={memory ? "A fact" : "A change of a document"}>
      <div class="line dim">
        {memory && <Marks row={{ ...memory, status: "active" }} />}
        {document && <span>{ACTIONS[document.action]} <b><Text value={document.path} most={120} /></b>{document.to_path && <> to <Text value={document.to_path} most={120} /></>}</span>}
        <Time at={item.created_at} />
        <Origin item={item} />
      </div>
      {memory && other ? <BothFacts memory={memory} other={other} /> : document && !moves && document.base_rev ? <BothDocuments document={document} /> : <p class="says"><Text value={said(item)} /></p>}
      <p class="dim">Why it waits: <Text value={item.reason} /></p>
      {edits && (
        <>
          {!moves && <Field label="What it is to say" kind="area" rows={Math.min(12, 2 + Math.ceil(text.value.length / 90))} value={text} />}
          {document && <Field label="Where" value={path} />}
          {memory?.category && <Field label="Category" options={choices("", CATEGORIES).slice(1)} value={category} />}
        </>
      )}
      <div class="line doing">
        {edits ? (
          <>
            <Act class="main" act={decide("edit", typed)} caught={caught} disabled={Object.keys(typed).length === 0}>Accept this</Act>
            <button type="button" onClick={() => open(false)}>Do not edit</button>
          </>
        ) : (
          <>
            {other && <Act class="main" act={decide("supersede")} caught={caught}>Accept in its place</Act>}
            <Act class={other ? "" : "main"} act={decide("approve")} caught={caught}>{other ? "Accept beside it" : "Accept"}</Act>
            {document?.base_rev && !moves && <Act act={decide("supersede")} caught={caught}>Write over what is there</Act>}
            <button type="button" onClick={() => open(true)}>Edit…</button>
            <Act class="danger" act={decide("reject")} caught={caught}>Reject</Act>
          </>
        )}
      </div>
    </article>
  );
}

const ACTIONS: Record<string, string> = { create: "a new document", update: "a new text for", append: "an addition to", move: "move" };

/** What it is by now, in words, where it waits no more. */
async function nowOf({ memory }: Item): Promise<string> {
  if (!memory) return "";
  const now = await api.get<Memory>(ours`/memories/${memory.id}`).catch(() => undefined);
  return !now ? "it is gone" : now.status === "inbox" ? "" : `it is ${STATUSES[now.status] ?? now.status} now`;
}

function Origin({ item: { memory, document, session_id: session } }: { item: Item }) {
  const seq = memory?.provenance.seq_from ?? document?.seqs[0];
  return (
    <span>
      {memory && (BY[memory.provenance.by] ?? memory.provenance.by)}
      {memory?.provenance.trust === "tool" && memory.provenance.by !== "tool" && ", by the word of a tool"}
      {session && <> in <a href={href(["conversation"], { session, seq })}><Text value={session} most={60} /> {seq && seqs(seq)}</a></>}
    </span>
  );
}

const Sides = ({ names, before, after, by }: { names: [string, string]; before: string; after: string; by: "words" | "lines" }) => (
  <>
    <div class="two">
      <div><h3>{names[0]}</h3><p><Text value={before} /></p></div>
      <div><h3>{names[1]}</h3><p><Text value={after} /></p></div>
    </div>
    <Diff before={before} after={after} by={by} />
  </>
);

function BothFacts({ memory, other }: { memory: Memory; other: string }) {
  const { value, error } = useLoad((asked) => api.get<Memory>(ours`/memories/${other}`, asked), [other]);
  if (!value) return <><p class="says"><Text value={memory.text} /></p><ErrorNote error={error} /></>;
  return <Sides names={["What is known", "What was said"]} before={value.text} after={memory.text} by="words" />;
}

function BothDocuments({ document }: { document: Schema["ProposalView"] }) {
  const { value, error } = useLoad((asked) => api.get<Schema["DocumentView"]>(ours`/documents`, { ...asked, query: { path: document.path } }), [document.path]);
  const now = value?.text;
  if (now === undefined) return <><p><Text value={document.text} /></p><ErrorNote error={error} /></>;
  const then = document.action === "append" ? `${now}\n${document.text}` : document.text;
  return <Sides names={["The document now", "As it would be"]} before={now} after={then} by="lines" />;
}
