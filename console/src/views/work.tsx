/** What goes on behind the calls: whether the service is well, what it works at, and what failed with what to do about it. */
import { api, type Schema } from "../api.ts";
import { useLoad } from "../load.ts";
import { Badge, Busy, count, ErrorNote, Text, Time } from "../parts/index.ts";
import { Row, Table } from "../parts/table.tsx";
import { Tiles } from "../parts/tiles.tsx";
import { href } from "../place.ts";
import { useWatch } from "../watch.ts";
import { type Job, kind, many, Status } from "./export/job.tsx";

type Work = Schema["WorkOut"];
type Health = Schema["HealthOut"];
type Failed = Schema["OutgoingEventOut"];

const BUSY_S = 5;
const QUIET_S = 30;
const SHOWN = 20;
const NEXT: Record<string, string> = {
  observe: "What was said is kept. Observe the session again; the next turn does so, too.",
  compact: "The conversation goes on without it. The next compaction takes its place.",
  end: "End the session again.",
  retract: "Take it back again: the call queues the same work.",
  reflect: "Nothing is lost: the next night goes on.",
  reindex: "Set the languages in the policy once more. Until then recall works by keyword.",
  drain: "Drain again, once the trouble above is over.",
  erase: "Nothing is visible of the user. Ask again: it goes on where it was.",
  forget: "Forget again: what is forgotten already is left out.",
};
const TROUBLES: Record<string, string> = { failing: "fails again and again", full: "is full", damaged: "is damaged", language: "meets messages in languages that it does not know" };
const FAILURES: Record<string, string> = {
  timeout: "did not answer within 10 s", name: "has a name that nobody knows", address: "leads to an address that is not public", connection: "is not there",
  tls: "has a certificate that does not fit", resting: "rests, as others failed before", status: "answered with an error",
};
const OUTCOMES: Record<string, string> = { failed: "It is tried again.", given_up: "It was given up after 24 hours.", disabled: "The receiver wants nothing more (410): put the webhook again to go on." };

async function everything(asked: { signal?: AbortSignal }) {
  const [work, health, feed] = await Promise.all([
    api.get<Work>("/admin/work", asked),
    api.get<Health>("/health", asked),
    api.get<Schema["FeedOut"]>("/events", { ...asked, query: { types: "job.failed", limit: 200 } }),
  ]);
  return { work, health, failed: feed.events.toReversed() };
}

export function WorkView() {
  const { value, error, loading, reload, at } = useWatch(everything, [], ({ work, health }) => (work.jobs.length || work.waiting.length || health.status !== "ok" ? BUSY_S : QUIET_S));
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {value ? <Shown {...value} at={at} reload={reload} /> : loading && <Busy />}
    </>
  );
}

function Shown({ work, health, failed, at, reload }: { work: Work; health: Health; failed: Failed[]; at: string; reload: () => void }) {
  const { jobs, waiting, night, webhooks } = work;
  const kinds = Object.entries(work.jobs_by_kind).map(([name, of]) => `${count(of)} × ${kind(name)}`).join(", ");
  return (
    <>
      <p class="dim">As of {new Date(at).toLocaleTimeString()}, looked at again by itself. <button type="button" class="link" onClick={reload}>Now</button></p>
      <Tiles
        of={[
          { name: "Service", value: health.status, kind: health.status === "ok" ? "good" : "bad", note: `version ${health.version}` },
          { name: "Under way", value: `${count(jobs.length)}${work.jobs_complete ? "" : "+"}`, note: kinds || "nothing" },
          { name: "Conversations that wait", value: `${count(waiting.length)}${work.waiting_complete ? "" : "+"}`, note: "for the index or the observer" },
          { name: "Last night", value: night ? night.status : "none", kind: night?.status === "failed" || night?.failed ? "bad" : undefined, note: !night ? "of the last two" : <><Time at={night.began} />, {count(night.ended)} of {many(night.users, "user")}{night.failed > 0 && `, ${count(night.failed)} failed`}</> },
          { name: "Failed in seven days", value: count(failed.length), kind: failed.length ? "bad" : undefined },
          { name: "Webhooks that fail", value: count(webhooks.length), kind: webhooks.length ? "bad" : undefined },
        ]}
      />
      {health.troubles.map((one) => (
        <p class="box"><b class="bad"><Text value={one.what} /></b> {TROUBLES[one.kind]} since <Time at={one.since} />{one.count !== undefined && ` (${count(one.count)})`}: <Text value={one.reason} /></p>
      ))}
      {night?.reason && <p class="box">The last night: <Text value={night.reason} /> <a href={href(["receipt", night.job_id])}>its job</a></p>}
      {failed.length > 0 && <h2>Failed</h2>}
      {failed.slice(0, SHOWN).map((event) => <FailedJob key={event.subject} event={event} />)}
      {webhooks.length > 0 && <h2>Webhooks</h2>}
      {webhooks.map((one) => (
        <div class="box">
          <p class="line"><b><Text value={one.id} /></b> <Badge kind="bad">{one.disabled ? "disabled" : one.outcome.replace("_", " ")}</Badge> <span class="dim"><Time at={one.at} /></span></p>
          <p>The receiver {one.status ? `answered with ${one.status}` : FAILURES[one.failure ?? ""] ?? "failed"}, {many(one.failed, "time")} of the last 20. {OUTCOMES[one.outcome]}</p>
        </div>
      ))}
      {jobs.length > 0 && (
        <>
          <h2>Under way</h2>
          <Table label="Jobs" head={["Job", "of", "status", "since"]}>
            {jobs.map((one) => (
              <Row name={<a href={href(["receipt", one.id])}>{kind(one.kind)}</a>}>
                <td>{one.user_id ? <Text value={one.user_id} most={60} /> : "everybody"} {one.session_id && <Text value={one.session_id} most={60} />}</td>
                <td><Status of={one.status} /></td><td><Time at={one.created_at} /></td>
              </Row>
            ))}
          </Table>
        </>
      )}
      {waiting.length > 0 && (
        <>
          <h2>Conversations that wait</h2>
          <ul>{waiting.map(({ user_id, session_id }) => <li><a href={href(["conversation"], { user: user_id, session: session_id })}><Text value={session_id} most={80} /></a> of <Text value={user_id} most={80} /></li>)}</ul>
        </>
      )}
      <h2>What it works with</h2>
      <dl>
        <dt>Rows</dt><dd>{health.table}</dd>
        <dt>Search index</dt><dd>{health.index.state}{health.index.match === false && ": its vectors are of another model, and are not compared"}</dd>
        <dt>Vectors</dt><dd><Text value={health.embedder.model} />, {health.embedder.state} {health.embedder.reason && <Text value={health.embedder.reason} />}</dd>
        <dt>Observer</dt><dd><Text value={health.observer} /></dd>
        <dt>Languages</dt><dd>words {health.languages.words.join(", ")}; meaning {health.languages.meaning.join(", ")}; observed {health.languages.observer.join(", ")}</dd>
      </dl>
    </>
  );
}

/** The event says which job; the job says why. */
function FailedJob({ event }: { event: Failed }) {
  const { value } = useLoad<Job>((asked) => api.get(`/admin/jobs/${encodeURIComponent(event.subject)}`, asked), [event.subject]);
  const name = String(event.data.kind);
  const why = value?.result?.reason ?? value?.result?.error;
  return (
    <div class="box">
      <p class="line">
        <a href={href(["receipt", event.subject])}>{kind(name)}</a>
        {event.user_id && <Text value={event.user_id} most={60} />}
        {value?.session_id && <a href={href(["conversation"], { user: event.user_id, session: value.session_id })}><Text value={value.session_id} most={60} /></a>}
        <span class="dim"><Time at={event.at} /></span>
      </p>
      {why !== undefined && <p class="bad"><Text value={String(why)} most={500} /></p>}
      {name === "export" ? <p><a href={href(["export"], { user: event.user_id })}>Another export</a></p> : <p>{NEXT[name] ?? "Asking again is safe: it queues the same work."}</p>}
    </div>
  );
}
