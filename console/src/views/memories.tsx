/** The memory browser: everything that is kept of a user, now or as of a time; filtered by the service, searched by words on
 * the page or by meaning as a recall does it. */
import { useSignal } from "@preact/signals";
import { useId, useMemo, useState } from "preact/hooks";
import { api, ours, type Schema } from "../api.ts";
import { useLoad, usePages } from "../load.ts";
import { Busy, count, Empty, ErrorNote, Field, Text, Time, Window } from "../parts/index.ts";
import { go, href, place, put, session } from "../place.ts";
import { ForgetMany } from "./memory/forget.tsx";
import { CATEGORIES, choices, KINDS, Marks, type Memory, STATUSES } from "./memory/words.tsx";
import "./memory/memory.css";

const ORDERS = [["", "newest first"], ["oldest", "oldest first"]] as const;
const ONLY = [["", "all"], ["model", "written by a model"], ["never", "never recalled"], ["holds", "what holds now"], ["ended", "what does not hold now"]] as const;
const ROW_PX = 66;
const MOST_MEANT = 50;

/** A signal of what stands in the address under that name, and writes itself back. */
function useKept(name: string, also: Record<string, undefined> = {}) {
  const value = useSignal(place.value.query[name] ?? "");
  return { value, onChange: (text: string) => put({ ...also, [name]: text }) };
}

export function Memories() {
  const words = useKept("q", { meaning: undefined });
  const kind = useKept("kind");
  const status = useKept("status");
  const category = useKept("category");
  const by = useKept("by");
  const order = useKept("order");
  const [forgets, forget] = useState(false);
  const { as_of = "", meaning = "" } = place.value.query;
  const only = by.value.value;
  const filters = {
    kind: kind.value.value || undefined,
    status: status.value.value || undefined,
    category: category.value.value || undefined,
    written_by: only === "model" ? "model" : undefined,
    never_recall: only === "never" || undefined,
    session_id: (only === "session" && session.value) || undefined,
  };
  const { rows, loading, error, more, reload } = usePages<Memory>(ours`/memories`, "memories", { ...filters, as_of });
  const like = useLoad(async (asked) => (meaning ? (await api.ask<Schema["RecallView"]>(ours`/recall`, { query: meaning, mode: "tool", sources: ["memory"], limit: MOST_MEANT, include_inbox: true, ...(as_of && { as_of }) }, asked)).hits.map((hit) => hit.id) : []), [meaning, as_of]);
  const wanted = meaning ? "" : words.value.value.trim().toLowerCase();
  const found = useMemo(() => {
    const valid = only === "holds" ? rows.filter((row) => row.holds) : only === "ended" ? rows.filter((row) => !row.holds) : rows;
    if (meaning) {
      const byId = new Map(valid.map((row) => [row.id, row]));
      return (like.value ?? []).flatMap((id) => byId.get(id) ?? []);
    }
    const kept = wanted ? valid.filter((row) => row.text.toLowerCase().includes(wanted) || row.id === wanted || row.tags.some((tag) => tag.toLowerCase() === wanted)) : valid;
    return order.value.value === "oldest" ? kept : kept.toReversed();
  }, [rows, wanted, only, order.value.value, like.value]);
  const named = Object.values(filters).some(Boolean);
  const canForget = !as_of && !wanted && (meaning || named) && only !== "holds" && only !== "ended" && rows.length > 0;
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => { event.preventDefault(); put({ meaning: words.value.value.trim() }); }}>
        <Field label="Search" kind="search" {...words} />
        <button type="submit" disabled={!words.value.value.trim()}>Find by meaning</button>
        <Slider />
      </form>
      <div class="filters">
        <Field label="Kind" options={choices("every kind", KINDS)} {...kind} />
        <Field label="Status" options={choices("in use", STATUSES)} {...status} />
        <Field label="Category" options={choices("every category", CATEGORIES)} {...category} />
        <Field label="Only" options={[...ONLY, ...(session.value ? ([["session", "of the chosen conversation"]] as const) : [])]} {...by} />
        <Field label="Order" options={[...ORDERS]} {...order} />
      </div>
      <div class="line dim">
        <span role="status">
          {found.length === rows.length ? count(rows.length) : `${count(found.length)} of ${count(rows.length)}`} memories{meaning && ", the nearest first"}{(loading || like.loading) && ", loading…"}
        </span>
        {meaning && <button type="button" class="link" onClick={() => put({ meaning: undefined })}>search by words again</button>}
        {more && <button type="button" class="link" onClick={more}>load more</button>}
        {canForget && <button type="button" class="link bad" onClick={() => forget(true)}>forget these…</button>}
      </div>
      <ErrorNote error={error ?? like.error} retry={error ? reload : like.reload} />
      {found.length > 0 ? (
        <Window rows={found} height={ROW_PX} label="Memories" id={(row) => row.id} render={(row) => <Row row={row} />} onOpen={(row) => go(["memory", row.id])} />
      ) : loading || like.loading ? (
        <Busy />
      ) : (
        <Empty>
          {rows.length ? "No memory is like this: take a filter or a word away." : as_of ? "Nothing was remembered by then." : named ? "No memory is of this kind." : "Nothing is remembered here yet: a session is observed some seconds after something was said in it."}
        </Empty>
      )}
      {forgets && <ForgetMany by={{ ...(named && { filters }), ...(meaning && { query: meaning }) }} onClose={() => forget(false)} onDone={reload} />}
    </>
  );
}

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** "The memory as of": from the oldest memory up to now, by minutes, hours or days, whatever makes a few hundred steps. */
function Slider() {
  const id = useId();
  const { value: first } = useLoad((asked) => api.get<Schema["MemoryPage"]>(ours`/memories`, { ...asked, query: { limit: 1 } }), []);
  const [now] = useState(Date.now());
  const { as_of = "" } = place.value.query;
  const [moved, move] = useState<string>();
  const shown = moved ?? as_of;
  const from = +new Date(first?.memories[0]?.created_at ?? now);
  const unit = now - from < DAY / 2 ? MINUTE : now - from < 20 * DAY ? 60 * MINUTE : DAY;
  const steps = Math.max(1, Math.ceil((now - from) / unit));
  const at = (step: number) => (step >= steps ? "" : new Date(from + step * unit).toISOString());
  const take = (event: Event) => at(Number((event.currentTarget as HTMLInputElement).value));
  return (
    <div class="field slide">
      <label for={id}>The memory as of {shown ? <Time at={shown} /> : "now"}</label>
      <input
        id={id}
        type="range"
        min={0}
        max={steps}
        value={shown ? Math.round((+new Date(shown) - from) / unit) : steps}
        aria-valuetext={shown ? new Date(shown).toLocaleString() : "now"}
        onInput={(event) => move(take(event))}
        onChange={(event) => { put({ as_of: take(event) }); move(undefined); }}
      />
    </div>
  );
}

function Row({ row }: { row: Memory }) {
  return (
    <a class="row" href={href(["memory", row.id])} tabIndex={-1}>
      <Text value={row.text} most={300} brief />
      <div class="line dim">
        <Time at={row.observed_at} />
        <Marks row={row} />
      </div>
    </a>
  );
}
