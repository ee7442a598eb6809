/** A chat to try it: type as the user, and as the assistant where no model answers; see what each turn did to the memory. */
import "./chat.css";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { api, ours, type Schema } from "../../api.ts";
import { ChooseSession } from "../../choose.tsx";
import { said, speaker } from "../../item.tsx";
import { useLoad } from "../../load.ts";
import { Act, Busy, Empty, ErrorNote, Field, Text } from "../../parts/index.ts";
import { go, session } from "../../place.ts";
import { may } from "../../token.ts";
import { press } from "../recall/recalls.tsx";
import { Turn, type Made } from "./turn.tsx";

type Event = Schema["EventOut"];
const LAST = 50;

export function Chat() {
  if (session.value) return <Talk key={session.value} />;
  const open = async () => {
    const session_id = `try-${new Date().toISOString().slice(0, 19).replace(/\D/g, "")}`;
    await api.post(ours`/sessions`, { session_id });
    go(["chat"], { session: session_id });
  };
  return (
    <>
      <Act act={open} class="main">New conversation</Act>
      <ChooseSession />
    </>
  );
}

/** A session that is new has no log yet. */
const log = async (asked: Parameters<typeof api.get>[1]) => {
  const query = { order: "desc", limit: LAST };
  const read = api.get<{ events: Event[] }>(ours`/sessions/${session.value}/events`, { ...asked, query });
  const { events } = await read.catch((error) => (error.status === 404 ? { events: [] } : Promise.reject(error)));
  return events.filter((event) => !event.retracted).reverse();
};

function Talk() {
  const { value: events, error, loading, reload } = useLoad(log, [session.value]);
  const turns = useSignal<Made[]>([]);
  const last = events?.at(-1);
  const waits = last?.event_type === "user_message";
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      <div class="two">
        <section aria-label="Conversation">
          {events ? <Log events={events} /> : loading && <Busy />}
          {events && (waits ? <Answer asked={said(last)} turns={turns} reload={reload} /> : <Say turns={turns} reload={reload} />)}
        </section>
        <section aria-label="What the turn did">
          {turns.value.length ? turns.value.map((turn, at) => <Turn key={turn.n} turn={turn} before={turns.value[at - 1]} />).reverse() : <Empty>Say something: the pack, what is recalled, and what is remembered of it show here.</Empty>}
        </section>
      </div>
    </>
  );
}

function Log({ events }: { events: Event[] }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollTo(0, box.current.scrollHeight), [events.length]);
  if (!events.length) return <Empty>A new conversation: nothing was said in it yet.</Empty>;
  return (
    <div ref={box} class="log" tabIndex={0} role="log" aria-label="What was said">
      {events.map((event) => (
        <div key={event.seq} class={`said ${event.event_type === "user_message" ? "user" : ""}`}>
          <small class="dim">{speaker(event)}</small>
          <Text value={said(event)} />
        </div>
      ))}
    </div>
  );
}

type Given = { turns: Signal<Made[]>; reload: () => void };

const change = (turns: Signal<Made[]>, n: number, to: Partial<Made>) => void (turns.value = turns.value.map((turn) => (turn.n === n ? { ...turn, ...to } : turn)));

function Say({ turns, reload }: Given) {
  const text = useSignal("");
  const send = async () => {
    const messages = [{ role: "user", content: text.value }];
    const before = await kept();
    const { prompt, degraded, problem } = await api.post<Schema["TurnOut"]>(ours`/sessions/${session.value}/turn`, { messages, compile: {} });
    const n = turns.value.length;
    turns.value = [...turns.value, { n, message: text.value, prompt, degraded, problem: problem?.detail, stage: "answer", changed: [], before }];
    text.value = "";
    reload();
    const pack = await api.get<Schema["PackOut"]>(ours`/pack`, { query: { session_id: session.value } });
    change(turns, n, { pack: pack.sha256, version: pack.pack_version });
  };
  return (
    <form onSubmit={press} onKeyDown={enter}>
      <Field label="You, as the user" kind="area" rows={3} value={text} />
      <Act act={send} class="main" disabled={!text.value.trim()}>Send</Act>
    </form>
  );
}

/** Enter sends, with Shift it is a new line; not while letters are composed. */
const enter = (event: KeyboardEvent) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target instanceof HTMLTextAreaElement) press(event);
};

type Row = Schema["MemoryView"];
const EVERY = ["", "superseded", "archived"];

/** All that is kept of this session, by id. */
async function kept(): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  for (const status of may("records") ? EVERY : []) {
    let cursor: string | undefined;
    do {
      const page = await api.get<{ memories: Row[]; next_cursor?: string }>(ours`/memories`, { query: { session_id: session.value, status, limit: 200, cursor } });
      for (const row of page.memories) rows.set(row.id, row);
      cursor = page.next_cursor;
    } while (cursor);
  }
  return rows;
}

const PATIENCE_MS = 180_000;
const POLL_MS = 1_000;

function Answer({ asked, turns, reload }: Given & { asked: string }) {
  const text = useSignal(`Echo: ${asked}`);
  const now = useSignal("yes");
  const here = useRef(true);
  useEffect(() => () => void (here.current = false), []);
  const send = async () => {
    const id = session.value;
    if (!turns.value.length) turns.value = [{ n: 0, message: asked, degraded: [], stage: "answer", changed: [], before: await kept() }];
    const { n, before } = turns.value.at(-1)!;
    await api.post(ours`/sessions/${id}/messages`, { messages: [{ role: "assistant", content: text.value }] });
    change(turns, n, { stage: "observe" });
    reload();
    const job = now.value ? await api.post<Schema["JobOut"]>(ours`/sessions/${id}/observe`, { wait: true }) : undefined;
    void watch(id, before, named(job?.result), (to) => change(turns, n, to));
  };
  return (
    <form onSubmit={press} onKeyDown={enter}>
      <Field label="The assistant's answer: no model is asked, so you are the assistant" kind="area" rows={3} value={text} />
      <Field label="Observe" value={now} options={[["yes", "at once"], ["", "by itself, after some seconds"]]} />
      <Act act={send} class="main" disabled={!text.value.trim()}>Answer</Act>
    </form>
  );
}

/** The memories that a pass wrote or heard again, of other sessions, too. */
const named = (result: Schema["JobOut"]["result"]) => {
  const { written = [], reinforced = [], facts = [] } = (result ?? {}) as { written?: string[]; reinforced?: string[]; facts?: { id?: string }[] };
  return [...written, ...reinforced, ...facts.map((fact) => fact.id)];
};

/** Until nothing of the session waits to be observed, or nobody looks at it any more. */
async function watch(id: string, before: Map<string, Row>, heard: (string | undefined)[], tell: (to: Partial<Made>) => void): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  try {
    for (;;) {
      const { memory_lag } = await api.get<Schema["SessionOut"]>(ours`/sessions/${id}`);
      if (id !== session.value) return;
      if (!memory_lag.unobserved) break;
      if (Date.now() > end) return tell({ stage: "late" });
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    const now = await kept();
    const others = may("records") ? heard.filter((one) => one && !now.has(one)) : [];
    const elsewhere = await Promise.all([...new Set(others)].map((one) => api.get<Row>(ours`/memories/${one ?? ""}`)));
    const changed = [...now.values()].filter((row) => before.get(row.id)?.rev !== row.rev);
    tell({ stage: "done", changed: [...changed.map((row) => ({ row, how: before.has(row.id) ? "changed" : "new" })), ...elsewhere.map((row) => ({ row, how: "said again" }))] });
  } catch (error) {
    tell({ stage: "late", problem: String(error) });
  }
}
