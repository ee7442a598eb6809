/** One job until it has ended: an export to load, an erasure and its receipt, and of any other what came of it. */
import { useEffect, useState } from "preact/hooks";
import { api, ours, type Schema } from "../../api.ts";
import { Act, Badge, Busy, count, ErrorNote, Text, Time } from "../../parts/index.ts";
import { Row, Table } from "../../parts/table.tsx";
import { identity } from "../../token.ts";
import { useWatch } from "../../watch.ts";
import "./job.css";

export type Job = Schema["JobOut"];
type Part = { part: number; bytes: number; lines: number; url?: string };
type Store = { deleted: number; verified_empty_at: string };
type Result = { lines?: Record<string, number>; parts?: Part[]; urls_expire_at?: string; parts_removed_at?: string; receipt?: Record<string, Store>; backups_expire_at?: string; closed?: boolean; deleted?: Record<string, number> };

const LOOK_S = 3;
/** Between the two looks of an erasure: a worker that began before may still be writing. */
const SETTLE_MS = 960_000;
export const KINDS: Record<string, string> = {
  erase: "erasure", export: "export", observe: "observation", compact: "compaction", end: "end of a conversation", reflect: "reflection", forget: "forgetting",
  retract: "taking back", reindex: "new vectors", drain: "drain", retain: "removal of what is old", librarian: "filing", file: "filing",
};
const STORES: Record<string, string> = {
  passages: "passages in the search index", packs: "packs", document_texts: "long texts of documents", images: "images", uploads: "uploads", exports: "exports", events: "what was said",
  recalls: "recalls", vectors: "vectors", memories: "memories", deleted: "traces of deleted memories", documents: "documents", rows: "sessions and other rows", answers: "stored answers", outgoing_events: "events for webhooks", jobs: "jobs",
};

export const kind = (name: string) => KINDS[name] ?? name;
export const many = (of: number, what: string) => `${count(of)} ${of === 1 ? what : `${what}s`.replace(/ys$/, "ies")}`;
export const ended = ({ status }: { status: string }) => status === "done" || status === "failed";

export function JobOf({ id }: { id: string }) {
  const { value: job, error, loading, reload, at } = useWatch<Job>((asked) => api.get(identity.value?.user ? ours`/jobs/${id}` : `/admin/jobs/${encodeURIComponent(id)}`, asked), [id], (found) => (ended(found) ? undefined : LOOK_S));
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {job ? <Shown job={job} at={at} reload={reload} /> : loading && <Busy />}
    </>
  );
}

function Shown({ job, at, reload }: { job: Job; at: string; reload: () => void }) {
  const result = (job.result ?? {}) as Result;
  if (result.receipt) return <Receipt job={job} receipt={result.receipt} backups={result.backups_expire_at} closed={result.closed} />;
  return (
    <section class="box" aria-label={kind(job.kind)}>
      <p class="line" role="status">
        <b>{kind(job.kind)}</b> {job.user_id && <Text value={job.user_id} />} <Status of={job.status} />
        <span class="dim">since <Time at={job.created_at} />{!ended(job) && <>, as of {new Date(at).toLocaleTimeString()}</>}</span>
      </p>
      {job.kind === "erase" && !ended(job) && (
        <p>
          From now on nothing is found of this user. What was kept is removed, and 16 minutes later once more, as a worker that began before may still be writing: the receipt comes at about{" "}
          <Time at={new Date(Date.parse(job.created_at) + SETTLE_MS).toISOString()} />. The page may be closed meanwhile: the receipt is found by the id of the job.
        </p>
      )}
      {result.deleted && <p class="dim">Removed so far: {Object.entries(result.deleted).map(([store, of]) => `${count(of)} ${STORES[store] ?? store}`).join(", ")}</p>}
      {result.parts ? <Parts job={job} result={result} reload={reload} /> : job.status === "done" || job.status === "failed" ? <Facts of={job.result ?? {}} /> : null}
      <p class="dim">{job.id}</p>
    </section>
  );
}

export const Status = ({ of }: { of: string }) => <Badge kind={of === "failed" ? "bad" : of === "done" ? "good" : ""}>{of}</Badge>;

function Parts({ job, result: { lines = {}, parts = [], urls_expire_at: until, parts_removed_at: gone }, reload }: { job: Job; result: Result; reload: () => void }) {
  return (
    <>
      <p>{Object.entries(lines).filter(([type]) => type !== "export").map(([type, of]) => many(of, type)).join(", ")}</p>
      {gone && <p class="bad">The files were removed <Time at={gone} />: ask for another export.</p>}
      {parts.map(({ part, bytes, lines: of, url }) => url && <p><a href={url} download={`${job.user_id}-${part + 1}.jsonl`} target="_blank" rel="noreferrer">Download {parts.length > 1 && `part ${part + 1}, `}{count(Math.ceil(bytes / 1024))} KB</a> <span class="dim">{count(of)} lines</span></p>)}
      {until && <p class="dim">The address holds until <Time at={until} />. <button type="button" class="link" onClick={reload}>A new one</button></p>}
    </>
  );
}

/** A result of another kind, name by name. */
function Facts({ of }: { of: Record<string, unknown> }) {
  return (
    <dl>
      {Object.entries(of).map(([name, value]) => (
        <><dt>{name.replaceAll("_", " ")}</dt><dd><Text value={typeof value === "object" ? JSON.stringify(value) : String(value)} most={500} /></dd></>
      ))}
    </dl>
  );
}

function Receipt({ job, receipt, backups, closed }: { job: Job; receipt: Record<string, Store>; backups: string | undefined; closed: boolean | undefined }) {
  const file = JSON.stringify(job, null, 2) + "\n";
  const [sum, setSum] = useState("");
  useEffect(() => {
    void crypto.subtle?.digest("SHA-256", new TextEncoder().encode(file)).then((bytes) => setSum([...new Uint8Array(bytes)].map((one) => one.toString(16).padStart(2, "0")).join("")));
  }, [file]);
  const stores = Object.entries(receipt);
  const removed = stores.reduce((all, [, { deleted }]) => all + deleted, 0);
  const save = async () => {
    const address = URL.createObjectURL(new Blob([file], { type: "application/json" }));
    Object.assign(document.createElement("a"), { href: address, download: `erasure-${job.id}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  };
  return (
    <article class="box receipt">
      <h2>Receipt of an erasure</h2>
      <p>
        Everything that was kept of <b><Text value={job.user_id ?? ""} /></b> was removed: <b>{count(removed)}</b> entries in {stores.length} stores, each of which was found empty afterwards.
      </p>
      <dl>
        <dt>Asked for</dt><dd><Time at={job.created_at} /></dd>
        <dt>Ended</dt><dd><Time at={job.finished_at} /></dd>
        <dt>The id</dt><dd>{closed ? "is closed for good: calls that write answer 410" : "is free: it may come back as a new and empty user"}</dd>
        <dt>Backups end</dt><dd><Time at={backups} /></dd>
        <dt>Job</dt><dd><Text value={job.id} /></dd>
        {sum && <><dt>SHA-256 of the file</dt><dd class="hash">{sum}</dd></>}
      </dl>
      <Table label="What was removed" head={["Store", "removed", "found empty"]}>
        {stores.map(([store, { deleted, verified_empty_at }]) => (
          <Row name={STORES[store] ?? store}><td class="number">{count(deleted)}</td><td><Time at={verified_empty_at} /></td></Row>
        ))}
      </Table>
      <p class="line"><Act class="main" act={save}>Save as a file</Act><button type="button" onClick={() => print()}>Print</button></p>
    </article>
  );
}
