/** What was said in one conversation, and what became of each turn: which memories, what a summary stands for, what was taken back. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, api, type Asked, ours, type Schema } from "../api.ts";
import { useLoad } from "../load.ts";
import { Act, Badge, Busy, count, Dialog, Empty, ErrorNote, Field, Text, Time, Tokens, Window } from "../parts/index.ts";
import { Said, sentence, speaker } from "../parts/event.tsx";
import { go, href, place, put, session } from "../place.ts";
import { may } from "../token.ts";
import { seqs } from "./memory/copies.tsx";
import { ended, type Job } from "./memory/jobs.ts";
import { KINDS, type Memory, STATUSES } from "./memory/words.tsx";
import "./memory/memory.css";

type Event = Schema["EventOut"];
type Head = Schema["SessionOut"];
/** What was made of an event: the line of a memory that it stands behind. */
type Made = { id: string; text: string; kind: string; status: string };
type BySeq = Map<number, Made[]>;

const ROW_PX = 66;
const PAGE = 200;
const SHOWN: [string, string][] = [["", "everything"], ["said", "what was said"], ["tools", "tools"], ["kept", "what was remembered"], ["taken", "what was taken back"]];

/** The whole log, page after page; a reload keeps the old rows until the new ones are there. */
function useLog(id: string) {
  const [log, set] = useState({ rows: [] as Event[], loading: true, error: undefined as unknown, removed: 0 });
  const [times, again] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const read = async () => {
      let rows: Event[] = [];
      for (let from: number | undefined = 1; from; ) {
        const page: Schema["EventsPage"] = await api.get(ours`/sessions/${id}/events`, { query: { limit: PAGE, from_seq: from }, signal: leaving.signal });
        if (leaving.signal.aborted) return;
        rows = rows.concat(page.events);
        from = page.next_from_seq;
        const loading = !!from;
        set((before) => ({ rows: loading ? rows.concat(before.rows.slice(rows.length)) : rows, loading, error: undefined, removed: page.removed?.seq_to ?? before.removed }));
      }
    };
    set((before) => ({ ...before, loading: true, error: undefined }));
    read().catch((error: unknown) => leaving.signal.aborted || set((before) => ({ ...before, loading: false, error })));
    return () => leaving.abort();
  }, [id, times]);
  return { ...log, reload: () => again((count) => count + 1) };
}

/** Everything that was made of the conversation, by the messages it was made of; also what was replaced since. */
async function madeOf(id: string, asked: Asked): Promise<BySeq> {
  const found: BySeq = new Map();
  if (!may("records")) return found;
  for (const status of ["", "superseded"]) {
    let cursor: string | undefined;
    do {
      const page: Schema["MemoryPage"] = await api.get(ours`/memories`, { ...asked, query: { session_id: id, status, limit: PAGE, cursor } });
      for (const memory of page.memories) note(found, id, memory);
      cursor = page.next_cursor;
    } while (cursor);
  }
  return found;
}

function note(found: BySeq, id: string, { passages = [], provenance, text, ...memory }: Memory) {
  const lines = passages.some((line) => line.seq_from) ? passages : provenance.session_id === id ? [{ ...provenance, text }] : [];
  for (const line of lines) {
    const from = line.seq_from ?? 0;
    for (let seq = from; from && seq <= Math.min(line.seq_to ?? from, from + PAGE); seq++) {
      const there = found.get(seq) ?? [];
      found.set(seq, [...there, { id: memory.id, text: line.text, kind: memory.kind, status: memory.status }]);
    }
  }
}

export function Conversation() {
  const id = session.value;
  const head = useLoad((asked) => api.get<Head>(ours`/sessions/${id}`, asked), [id]);
  const log = useLog(id);
  const made = useLoad((asked) => madeOf(id, asked), [id]);
  const words = useSignal(place.value.query.q ?? "");
  const only = useSignal(place.value.query.show ?? "");
  const seq = Number(place.value.query.seq);
  const bySeq = made.value ?? new Map<number, Made[]>();
  const wanted = words.value.trim().toLowerCase();
  const found = useMemo(() => log.rows.filter((event) => shown(event, only.value, bySeq) && (!wanted || sentence(event).toLowerCase().includes(wanted))), [log.rows, wanted, only.value, made.value]);
  const opened = log.rows.find((event) => event.seq === seq);
  const reload = () => {
    head.reload();
    log.reload();
    made.reload();
  };
  return (
    <>
      {head.value && <About head={head.value} reload={reload} />}
      <div class="filters">
        <Field label="Search" kind="search" value={words} onChange={(q) => put({ q })} />
        <Field label="Show" options={SHOWN} value={only} onChange={(show) => put({ show })} />
      </div>
      <div class="line dim">
        <span role="status">{found.length === log.rows.length ? count(found.length) : `${count(found.length)} of ${count(log.rows.length)}`} events{log.loading && ", loading…"}</span>
        {log.removed > 0 && <span>#1 to #{count(log.removed)} are gone: their time was over.</span>}
        <button type="button" class="link" onClick={reload}>read again</button>
      </div>
      <ErrorNote error={log.error ?? head.error ?? made.error} retry={reload} />
      {found.length > 0 ? (
        <Window
          rows={found}
          height={ROW_PX}
          label="Events"
          id={(event) => String(event.seq)}
          render={(event) => <Row event={event} head={head.value} made={bySeq.get(event.seq) ?? []} />}
          onOpen={(event) => go(place.value.path, { ...place.value.query, seq: event.seq })}
        />
      ) : log.loading ? <Busy /> : <Empty>{log.rows.length ? "No event is like this." : "Nothing was said here yet."}</Empty>}
      {opened && <Opened key={seq} event={opened} rows={log.rows} bySeq={bySeq} reload={reload} />}
    </>
  );
}

function shown(event: Event, only: string, bySeq: BySeq) {
  const tool = event.event_type === "tool_call" || event.event_type === "tool_result";
  return only === "said" ? !!speaker(event) && !event.retracted : only === "tools" ? tool : only === "kept" ? bySeq.has(event.seq) : only === "taken" ? event.retracted : true;
}

function Row({ event, head, made }: { event: Event; head: Head | undefined; made: Made[] }) {
  const who = speaker(event);
  const there = made.filter((one) => one.status !== "superseded");
  const kept = there.find((one) => one.kind === "fact") ?? there[0] ?? made[0];
  const unread = head && event.seq > head.observed_seq;
  return (
    <a class={`row ${who ? "" : "tool dim"}`} href={href(place.value.path, { ...place.value.query, seq: event.seq })} tabIndex={-1}>
      <div class={event.retracted ? "line taken" : "line"}>
        <span class="number dim">#{event.seq}</span>
        {who && <b><Text value={who} most={40} brief /></b>}
        <Text value={sentence(event).slice(0, 400)} brief />
      </div>
      <div class="line dim">
        <Time at={event.created_at} />
        {event.retracted && <Badge kind="bad">{event.erased ? "deleted" : "taken back"}</Badge>}
        {event.unobservable && <Badge kind="bad">could not be read</Badge>}
        {event.archived && <Badge>{event.seq === head?.covers?.to ? "summarised up to here" : "summarised"}</Badge>}
        {event.pruned && <Badge>shortened in prompts</Badge>}
        {event.seq === head?.observed_seq && <Badge kind="good">read up to here</Badge>}
        {unread && !event.retracted && <Badge>not read yet</Badge>}
        {kept && <span class={kept.status === "superseded" ? "made taken" : "made"}><Text value={`→ ${kept.text}`} most={200} brief /></span>}
        {made.length > 1 && <span>+{made.length - 1}</span>}
      </div>
    </a>
  );
}

function About({ head, reload }: { head: Head; reload: () => void }) {
  const dry = useSignal<Dry | undefined>(undefined);
  const path = ours`/sessions/${head.id}/observe`;
  const look = async () => void (dry.value = await api.ask<Dry>(path, { dry_run: true }));
  const observe = async () => {
    const job = await ended(await api.post<Job>(path, { wait: true }));
    dry.value = undefined;
    reload();
    if (job.status === "failed") throw new ApiError(0, "failed", `The pass has failed: ${String(job.result?.reason ?? "")}`);
  };
  return (
    <>
      <h2><Text value={head.title ?? head.thread_title ?? head.id} most={200} /></h2>
      <p class="line dim">
        <span>{head.status}</span>
        <span>since <Time at={head.started_at} /></span>
        <span>read up to #{count(head.observed_seq)} of {count(head.last_seq)}</span>
        {head.covers && <span>{seqs(head.covers.from, head.covers.to)} summarised</span>}
        {head.pack_version && <a href={href(["packs"])}>pack {head.pack_version}</a>}
        <Tokens count={head.total_tokens} />
        {head.current_task && <span>task: <Text value={head.current_task} most={120} /></span>}
      </p>
      <div class="line doing">
        <Act act={look}>What would be remembered now?</Act>
        {head.observed_seq < head.last_seq && <Act act={observe}>Remember it now</Act>}
      </div>
      {dry.value && <Ahead dry={dry.value} onClose={() => (dry.value = undefined)} />}
    </>
  );
}

type Dry = Schema["DryRunOut"];

/** What a pass would write now, and has not. */
function Ahead({ dry, onClose }: { dry: Dry; onClose: () => void }) {
  const nothing = dry.observations.length + dry.facts.length === 0;
  return (
    <section class="box">
      <div class="line">
        <h3 class="grow">{nothing ? "Nothing would be written" : "This would be written, and is not yet"}</h3>
        <button type="button" class="link" onClick={onClose}>Close</button>
      </div>
      <ul>
        {dry.observations.map((one) => <li><Text value={one.text ?? ""} most={600} /> <span class="dim">{one.seq_from && seqs(one.seq_from, one.seq_to)}</span></li>)}
        {dry.facts.map((one) => (
          <li>
            <Badge>{one.decision}</Badge> {one.text ? <Text value={one.text} most={400} /> : one.id && <a href={href(["memory", one.id])}>a memory that is there</a>}{" "}
            <span class="dim"><Text value={one.reason} most={300} /> {one.seq_from && seqs(one.seq_from, one.seq_to)}</span>
            {one.supersedes?.map((id) => <span> in the place of <a href={href(["memory", id])}>what is there</a></span>)}
          </li>
        ))}
      </ul>
      <p class="dim">
        {nothing ? `There is nothing new up to #${dry.observed_seq}.` : <>Read up to #{dry.observed_seq}, <Tokens count={dry.tokens} /></>}
        {!dry.complete && <> · not all was looked at: <Text value={dry.reason ?? ""} /></>}
      </p>
    </section>
  );
}

function Opened({ event, rows, bySeq, reload }: { event: Event; rows: Event[]; bySeq: BySeq; reload: () => void }) {
  const [takes, take] = useState(false);
  const made = bySeq.get(event.seq) ?? [];
  const at = rows.indexOf(event);
  const step = (to: Event | undefined, words: string) => to && <button type="button" class="link" onClick={() => put({ seq: to.seq })}>{words}</button>;
  return (
    <Dialog title={`#${event.seq}`} onClose={() => put({ seq: undefined })}>
      <p class="line dim">
        <Time at={event.created_at} />
        <Tokens count={event.original_tokens} />
        {event.retracted && <Badge kind="bad">taken back</Badge>}
        {event.archived && <Badge>a summary stands for it in prompts</Badge>}
        {event.unobservable && <Badge kind="bad">{event.unobservable.reason}</Badge>}
        {event.artifact_path && <Text value={event.artifact_path} most={100} />}
      </p>
      <div class="box"><Said event={event} /></div>
      <h3>What became of it</h3>
      {made.length > 0 ? (
        <ul>{made.map((one) => <li><a href={href(["memory", one.id])}><Text value={one.text} most={300} /></a> <span class="dim">{KINDS[one.kind] ?? one.kind}{one.status !== "active" && `, ${STATUSES[one.status] ?? one.status}`}</span></li>)}</ul>
      ) : <p class="dim">No memory was made of it.</p>}
      {takes ? <TakeBack event={event} rows={rows} bySeq={bySeq} onDone={() => { take(false); reload(); }} /> : (
        <p class="line">
          {step(rows[at - 1], "earlier")} {step(rows[at + 1], "later")}
          {!event.erased && <button type="button" class="danger" onClick={() => take(true)}>Take it back…</button>}
        </p>
      )}
    </Dialog>
  );
}

const REASONS: [string, string][] = [["edited", "edited: the words stay in the log, marked"], ["branched", "the conversation goes on elsewhere: they stay, marked"], ["deleted", "deleted: the words are erased for good"]];

/** First what goes: the messages, and what was made of them. */
function TakeBack({ event, rows, bySeq, onDone }: { event: Event; rows: Event[]; bySeq: BySeq; onDone: () => void }) {
  const [reason, until] = [useSignal("edited"), useSignal("turn")];
  const behind = rows.filter((one) => one.seq > event.seq);
  const next = behind.find((one) => one.event_type === "user_message")?.seq;
  const last = rows.at(-1)?.seq ?? event.seq;
  const ends: Record<string, number> = { one: event.seq, turn: next ? next - 1 : last, all: last };
  const to = ends[until.value] ?? event.seq;
  const gone = new Map(rows.filter((one) => one.seq >= event.seq && one.seq <= to).flatMap((one) => (bySeq.get(one.seq) ?? []).filter(({ status }) => status !== "superseded").map((made) => [made.id + made.text, made])));
  const act = async () => {
    const { job_id } = await api.post<Schema["RetractedOut"]>(ours`/sessions/${session.value}/events/retract`, { from_seq: event.seq, to_seq: to, reason: reason.value });
    onDone();
    await ended(await api.get<Job>(ours`/jobs/${job_id}`));
    onDone();
  };
  return (
    <section class="box" aria-label="Take back">
      <Field label="What" value={until} options={[["one", `this one, #${event.seq}`], ["turn", `up to the end of the turn, ${seqs(event.seq, ends.turn)}`], ["all", `everything from here on, ${seqs(event.seq, last)}`]]} />
      <Field label="Why" value={reason} options={REASONS} />
      <p>{count(to - event.seq + 1)} {to === event.seq ? "event" : "events"}, and what was made of them: {gone.size === 0 && "nothing yet."}</p>
      <ul class="scrolled">{[...gone.values()].map((one) => <li><Text value={one.text} most={200} /></li>)}</ul>
      {reason.value === "deleted" && <p><b>The words cannot be brought back.</b></p>}
      <Act class="danger" act={act}>Take {seqs(event.seq, to)} back</Act>
    </section>
  );
}
