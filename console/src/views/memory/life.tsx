/** One memory's life: the words it came from, what it replaced and what replaced it, and who has been given it since. */
import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { api, isConflict, ours, type Schema } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Act, Badge, Busy, count, ErrorNote, Text, Time, Tokens } from "../../parts/index.ts";
import { Said } from "../../parts/event.tsx";
import { go, href, place } from "../../place.ts";
import { may } from "../../token.ts";
import { Copies, seqs } from "./copies.tsx";
import { Form, isDraft, type Saved } from "./edit.tsx";
import { ForgetOne } from "./forget.tsx";
import { BY, Marks, type Memory } from "./words.tsx";
import "./memory.css";

type Trace = Schema["TraceView"];
const MOST_SHOWN = 20;

export function OneMemory() {
  const id = place.value.path[1] ?? "";
  return <Life key={id} id={id} />;
}

function Life({ id }: { id: string }) {
  const read = useLoad((asked) => api.get<Memory>(ours`/memories/${id}`, asked), [id]);
  const written = useSignal<Memory | undefined>(undefined);
  const trace = useLoad((asked) => api.get<Trace>(ours`/memories/${id}/trace`, asked), [id, written.value?.rev]);
  const memory = written.value ?? read.value;
  if (!memory) return <><h2>One memory</h2><ErrorNote error={read.error} retry={read.reload} />{read.loading && <Busy />}</>;
  return (
    <>
      <h2 class="says"><Text value={memory.text} /></h2>
      <p class="line"><Marks row={memory} /></p>
      <Doing memory={memory} history={trace.value?.history ?? []} onNow={(now) => (written.value = now)} />
      <div class="two">
        <Source memory={memory} />
        <About memory={memory} />
      </div>
      <ErrorNote error={trace.error} retry={trace.reload} />
      {trace.value && <Chain trace={trace.value} id={id} />}
      {trace.value && <Readers trace={trace.value} />}
    </>
  );
}

function Doing({ memory, history, onNow }: { memory: Memory; history: Trace["history"]; onNow: (now: Memory) => void }) {
  const [open, set] = useState<"edit" | "evolve" | "">(isDraft(memory, "edit") ? "edit" : isDraft(memory, "evolve") ? "evolve" : "");
  const [forgets, forget] = useState(false);
  const saved = useSignal<Saved | undefined>(undefined);
  const path = ours`/memories/${memory.id}`;
  const again = async () => onNow(await api.get<Memory>(path));
  const change = (body: Schema["UpdateBody"]) => async () => onNow(await api.patch<Memory>(path, body, { ifMatch: memory.rev }));
  const caught = (error: unknown) => (isConflict(error) && void again(), false);
  const replaced = memory.status === "superseded";
  const newest = history.findLast((one) => one.status === "active" && one.id !== memory.id);
  const back = async () => {
    const now = await api.post<Memory>(ours`/memories/${newest?.id ?? ""}/evolve`, { text: memory.text, reason: "put back by a person" });
    go(["memory", now.id]);
  };
  return (
    <>
      <div class="line doing">
        {!replaced && <button type="button" aria-expanded={open === "edit"} onClick={() => set("edit")}>Edit</button>}
        {memory.status === "active" && <button type="button" aria-expanded={open === "evolve"} onClick={() => set("evolve")}>Something else holds now</button>}
        {!replaced && <Act act={change({ priority: memory.priority === "high" ? "medium" : "high" })} caught={caught}>{memory.priority === "high" ? "Unpin" : "Pin: first in packs"}</Act>}
        {!replaced && <Act act={change({ never_recall: !memory.never_recall })} caught={caught}>{memory.never_recall ? "Recall again" : "Never recall"}</Act>}
        {memory.status === "active" && <Act act={change({ status: "archived" })} caught={caught}>Archive</Act>}
        {(memory.status === "archived" || memory.status === "resolved") && <Act act={change({ status: "active" })} caught={caught}>Restore</Act>}
        {replaced && newest && <Act act={back}>Restore in the place of what holds now</Act>}
        {memory.status === "inbox" && <a href={href(["inbox"])}>Decide in the inbox</a>}
        <button type="button" class="danger" onClick={() => forget(true)}>Forget…</button>
      </div>
      {open && (
        <Form
          key={open}
          memory={memory}
          as={open}
          onClose={() => set("")}
          onTheirs={onNow}
          onSaved={(now) => {
            set("");
            saved.value = now;
            if (now.id === memory.id) onNow(now);
            else go(["memory", now.id]);
          }}
        />
      )}
      {saved.value?.also_in && saved.value.also_in.length > 0 && (
        <div class="box" role="status">
          <p>Saved. The old words still stand here:</p>
          <Copies copies={saved.value.also_in} complete={saved.value.also_in_complete} />
        </div>
      )}
      {forgets && <ForgetOne memory={memory} onClose={() => forget(false)} onChanged={again} />}
    </>
  );
}

/** The messages themselves, where the token reads conversations and the log still has them. */
function Source({ memory }: { memory: Memory }) {
  const { by, session_id: session = "", seq_from: from, seq_to: to = from, model } = memory.provenance;
  const reads = !!session && from !== undefined && may("chat");
  const read = async (asked: object) => (reads ? api.get<Schema["EventsPage"]>(ours`/sessions/${session}/events`, { ...asked, query: { from_seq: from, limit: Math.min(MOST_SHOWN, (to ?? from) - from + 1) } }) : undefined);
  const { value, error, reload } = useLoad(read, [memory.id, session, from, to]);
  return (
    <section class="box">
      <h3>Where it comes from</h3>
      <p>
        {BY[by] ?? by}
        {memory.written_by && ", written by a model with a tool"}
        {model && <span class="dim">, noted by <Text value={model === "extractive" ? "the rules" : model} most={60} /></span>}
        {session && <>, in <a href={href(["conversation"], { session, seq: from })}><Text value={session} most={60} /> {from !== undefined && seqs(from, to)}</a></>}
      </p>
      {memory.about && memory.about.length > 0 && <p class="dim">about <Text value={memory.about.join(", ")} most={200} /></p>}
      <ErrorNote error={error} retry={reload} />
      {value?.events.map((event) => (
        <p class={event.retracted ? "source taken" : "source"}>
          <a href={href(["conversation"], { session, seq: event.seq })}>#{event.seq}</a> <Said event={event} /> {event.retracted && <Badge kind="bad">taken back</Badge>}
        </p>
      ))}
      {value && from !== undefined && (to ?? from) - from >= MOST_SHOWN && <p class="dim">and {count((to ?? from) - from + 1 - MOST_SHOWN)} more messages</p>}
      {memory.judged && <p class="dim">Kept as it is because: <Text value={memory.judged.reason} /></p>}
    </section>
  );
}

function About({ memory }: { memory: Memory }) {
  const rows: [string, unknown][] = [
    ["noted", <Time at={memory.observed_at} />],
    ["said again", memory.occurrences > 1 && `${count(memory.occurrences)} times in all`],
    ["holds", (memory.valid_from || memory.valid_until) && <>{memory.valid_from && <>from <Time at={memory.valid_from} /></>} {memory.valid_until && <>until <Time at={memory.valid_until} /></>}</>],
    ["last used", <Time at={memory.last_used_at} />],
    ["for", memory.scope === "session" || memory.audience ? "its conversation" : "every conversation"],
    ["importance", `${memory.importance} of 5, ${Math.round(memory.confidence * 100)} % sure`],
    ["tags", memory.tags.length > 0 && <Text value={memory.tags.join(", ")} most={200} />],
    ["group", memory.group && <Text value={memory.group} most={100} />],
    ["found", memory.status === "active" && (memory.embedding_state === "ready" ? "by words and by meaning" : `by words only: its vector is ${memory.embedding_state}`)],
    ["size", <Tokens count={memory.tokens} />],
    ["id", <code class="id">{memory.id}</code>],
  ];
  return (
    <section class="box">
      <h3>What is known of it</h3>
      <dl>{rows.map(([name, value]) => Boolean(value) && <><dt>{name}</dt><dd>{value as never}</dd></>)}</dl>
    </section>
  );
}

function Chain({ trace, id }: { trace: Trace; id: string }) {
  if (trace.history.length < 2) return null;
  return (
    <section>
      <h3>What it replaced, and what replaced it</h3>
      <ol class="chain">
        {trace.history.map((one) => (
          <li aria-current={one.id === id ? "true" : undefined}>
            {one.id === id ? <b><Text value={one.text} most={400} /></b> : <a href={href(["memory", one.id])}><Text value={one.text} most={400} brief /></a>}
            <div class="dim line">
              <span>{BY[one.by] ?? one.by}</span>
              <Time at={one.created_at} />
              {one.supersedes.length > 1 && <span>made of {count(one.supersedes.length)} memories</span>}
              {one.superseded_at && <span>replaced <Time at={one.superseded_at} />{one.superseded_reason && <>: <Text value={one.superseded_reason} most={200} /></>}</span>}
            </div>
          </li>
        ))}
      </ol>
      {trace.history_left_out && <p class="dim">{count(trace.history_left_out)} more are too far from it to be shown.</p>}
    </section>
  );
}

/** Who was given it: packs that carry it, and the newest recalls that answered with it. */
function Readers({ trace }: { trace: Trace }) {
  const { packs, surfaced } = trace;
  return (
    <div class="two">
      <section>
        <h3>Packs that carry it</h3>
        {packs.length === 0 && <p class="dim">No frozen pack holds it.</p>}
        <ul>
          {packs.slice(0, 50).map(({ session_id: session, pack_version: version }) => (
            <li><a href={href(["packs", String(version)], { session })}>version {version} of <Text value={session} most={60} /></a></li>
          ))}
        </ul>
        {trace.more_packs && <p class="dim">and perhaps more: these are the newest.</p>}
      </section>
      <section>
        <h3>Recalls that answered with it</h3>
        <p class="dim">{trace.summary}</p>
        {surfaced.length > 0 && (
          <table>
            <thead><tr><th scope="col">When</th><th scope="col">Place</th><th scope="col">Score</th></tr></thead>
            <tbody>
              {surfaced.slice(0, 50).map((one) => (
                <tr>
                  <td><a href={href(["recall", one.recall_id])}><Time at={one.at} /></a> <span class="dim">{one.mode === "tool" ? "by a tool" : "for a prompt"}</span></td>
                  <td class="number">{one.rank}</td>
                  <td class="number">{one.score.toFixed(4)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </div>
  );
}
