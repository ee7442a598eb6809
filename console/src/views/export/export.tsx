/** What one may ask for of all that is kept of a user: a copy of it, and its end. */
import { useSignal } from "@preact/signals";
import { api, ours, type Schema } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Act, Busy, count, ErrorNote, Field, plain, Text, Time } from "../../parts/index.ts";
import { Tiles } from "../../parts/tiles.tsx";
import { href, place, put, user } from "../../place.ts";
import { may } from "../../token.ts";
import { type Job, JobOf, kind, many } from "./job.tsx";

export function Export() {
  const { export: exported, erasure } = place.value.query;
  const start = async () => put({ export: (await api.post<Job>(ours`/export`, undefined)).id });
  return (
    <>
      <h2>Export</h2>
      <p>Everything that is kept, as JSON lines that can be brought in elsewhere. The files are kept for a week.</p>
      <Act class="main" act={start}>Export</Act>
      {exported && <JobOf key={exported} id={exported} />}
      <h2>Erase</h2>
      {erasure ? <JobOf key={erasure} id={erasure} /> : <Erase />}
      {may("admin") && <Earlier of={user.value} />}
    </>
  );
}

function Erase() {
  const words = useSignal("");
  const close = useSignal("");
  const sure = words.value === user.value;
  const erase = async () => put({ erasure: (await api.delete<Job>(ours``, { query: { close: close.value } })).id, export: undefined });
  return (
    <>
      <p>Everything that is kept of <b><Text value={user.value} /></b> is removed for good, and a receipt says what was removed where. It takes 16 minutes at least, and nothing brings it back.</p>
      {may("admin") && <Kept />}
      <div class="filters">
        <Field label="The id afterwards" options={[["", "is free: it may come back as a new and empty user"], ["true", "is closed: it can never be used again"]]} value={close} />
        <Field label={`Type ${plain(user.value)} to confirm`} value={words} />
      </div>
      <Act class="danger" disabled={!sure} act={erase}>Erase {sure && plain(user.value)}</Act>
    </>
  );
}

/** Of what the end would be, before it is asked for. */
function Kept() {
  const { value, error, loading, reload } = useLoad<Schema["StatsOut"]>((asked) => api.get(ours`/stats`, asked), []);
  if (!value) return loading ? <Busy /> : <ErrorNote error={error} retry={reload} />;
  const kinds = Object.entries(value.memories.kind).map(([name, of]) => many(of, name.replaceAll("_", " ")));
  return (
    <Tiles
      of={[
        { name: "Conversations", value: count(value.short_term.sessions) },
        { name: "Events in them", value: count(value.short_term.events) },
        { name: "Memories", value: count(value.memories.total), note: kinds.join(", ") },
        { name: "Vectors", value: count(value.embeddings.vectors) },
        { name: "Reported prompts", value: count(value.prompt_cache.reports), note: value.complete ? "" : "Each number is the least that it may be." },
      ]}
    />
  );
}

/** Those that ended in the last week, from the feed of events; a receipt itself is kept for 400 days. */
export function Earlier({ of = "" }: { of?: string }) {
  const { value, error, reload } = useLoad<Schema["FeedOut"]>((asked) => api.get("/events", { ...asked, query: { types: "erasure.done,export.done", user_id: of, limit: 200 } }), [of]);
  return (
    <>
      <h2>Ended in the last seven days</h2>
      <ErrorNote error={error} retry={reload} />
      {value && !value.events.length && <p class="dim">None. A receipt is kept for 400 days: <a href={href(["receipt"])}>find it by the id of its job</a>.</p>}
      <ul>
        {value?.events.toReversed().map((event) => (
          <li><a href={href(["receipt", event.subject])}>{kind(String(event.data.kind))} of <Text value={event.user_id ?? ""} most={80} /></a> <span class="dim"><Time at={event.at} /></span></li>
        ))}
      </ul>
    </>
  );
}
