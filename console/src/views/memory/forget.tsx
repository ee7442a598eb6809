/** To forget: first what goes and what stays, then a person confirms, then the receipt of what has gone. */
import { type Signal, useSignal } from "@preact/signals";
import { api, isConflict, ours, type Schema } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Act, Busy, count, Dialog, Empty, ErrorNote, Text } from "../../parts/index.ts";
import { go, href, type Query } from "../../place.ts";
import { Copies, Words } from "./copies.tsx";
import { ended, type Job } from "./jobs.ts";
import { KINDS, type Memory } from "./words.tsx";

type Deleted = Schema["DeletedView"];

const Check = ({ label, on }: { label: string; on: Signal<boolean> }) => (
  <p>
    <label>
      <input type="checkbox" checked={on.value} onChange={(event) => (on.value = event.currentTarget.checked)} /> {label}
    </label>
  </p>
);

const several = (of: number, one: string, more = `${one}s`) => `${count(of)} ${of === 1 ? one : more}`;

export function ForgetOne({ memory, onClose, onChanged }: { memory: Memory; onClose: () => void; onChanged: () => void }) {
  const [cascade, packs, gone] = [useSignal(true), useSignal(true), useSignal<Deleted | undefined>(undefined)];
  const path = ours`/memories/${memory.id}`;
  const ahead = useLoad((asked) => api.delete<Deleted>(path, { ...asked, query: { dry_run: true } }), [memory.id, memory.rev]);
  const { value } = ahead;
  const forget = async () => {
    gone.value = await api.delete<Deleted>(path, { ifMatch: memory.rev, query: { cascade: cascade.value, purge_packs: packs.value } });
  };
  const close = () => (gone.value ? go(["memories"]) : onClose());
  return (
    <Dialog title={gone.value ? "Forgotten" : "Forget this memory?"} onClose={close}>
      {gone.value ? (
        <Receipt forgotten={1 + gone.value.deleted_derived.length} purged={gone.value.purged_packs.length} held={gone.value.in_packs.length} {...gone.value} />
      ) : (
        <>
          <p class="box"><Text value={memory.text} most={600} /></p>
          <ErrorNote error={ahead.error} retry={ahead.reload} />
          {!value && ahead.loading && <Busy />}
          {value && (
            <>
              {value.derived.length > 0 && (
                <>
                  <Check on={cascade} label={`and ${several(value.derived.length, "reflection or copy", "reflections and copies")} made of it`} />
                  <ul>{value.derived.slice(0, 10).map((id) => <li><a href={href(["memory", id])}><Words id={id} /></a></li>)}</ul>
                </>
              )}
              {value.in_packs.length > 0 && <Check on={packs} label={`and ${several(value.in_packs.length, "frozen pack that holds it: it is", "frozen packs that hold it: they are")} built anew`} />}
              {value.also_in.length > 0 ? (
                <>
                  <p>What it says stays here:</p>
                  <Copies copies={value.also_in} complete={value.also_in_complete} />
                </>
              ) : (
                <p class="dim">What it says stands nowhere else{!value.also_in_complete && " that was looked at"}.</p>
              )}
              <p><b>It cannot be brought back.</b></p>
              <p class="line">
                <Act class="danger" act={forget} caught={(error) => isConflict(error) && (onChanged(), false)}>Forget it</Act>
                <button type="button" onClick={close}>Keep it</button>
              </p>
            </>
          )}
        </>
      )}
    </Dialog>
  );
}

/** By filters or by words: the list that is confirmed is the one that was shown. */
export function ForgetMany({ by, onClose, onDone }: { by: { filters?: Query; query?: string }; onClose: () => void; onDone: () => void }) {
  const [packs, job] = [useSignal(true), useSignal<Job | undefined>(undefined)];
  const ahead = useLoad((asked) => api.ask<Schema["ForgetListView"]>(ours`/memories/forget`, by, asked), [JSON.stringify(by)]);
  const { value } = ahead;
  const forget = async () => {
    job.value = await ended(await api.post<Job>(ours`/memories/forget`, { confirm: value?.confirm, purge_packs: packs.value }));
    onDone();
  };
  const result = job.value?.status === "done" ? job.value.result : undefined;
  return (
    <Dialog title={result ? "Forgotten" : value ? `Forget ${several(value.count, "memory", "memories")}?` : "Forget these?"} onClose={onClose}>
      <ErrorNote error={ahead.error} retry={ahead.reload} />
      {!value && ahead.loading && <Busy />}
      {job.value?.status === "failed" && <ErrorNote error={JSON.stringify(job.value.result)} />}
      {result ? (
        <ManyGone result={result} />
      ) : value && value.count === 0 ? (
        <Empty>Nothing is found by this: nothing would go.</Empty>
      ) : (
        value && (
          <>
            <ul class="scrolled">{value.memories.map((one) => <li><Text value={one.text} most={160} /> <span class="dim">{KINDS[one.kind] ?? one.kind}</span></li>)}</ul>
            {value.count > value.memories.length && <p class="dim">and {count(value.count - value.memories.length)} more</p>}
            {!value.complete && <p>There are even more, for another list behind this one.</p>}
            <Check on={packs} label="and the frozen packs that hold any of them: they are built anew" />
            <p><b>They cannot be brought back.</b> Which of their words stand elsewhere is said afterwards.</p>
            <p class="line">
              <Act class="danger" act={forget}>Forget {several(value.count, "memory", "memories")}</Act>
              <button type="button" onClick={onClose}>Keep them</button>
            </p>
          </>
        )
      )}
    </Dialog>
  );
}

type Result = NonNullable<Job["result"]>;
const list = <T,>(value: unknown) => (Array.isArray(value) ? (value as T[]) : []);

const ManyGone = ({ result }: { result: Result }) => (
  <>
    <Receipt
      forgotten={Number(result.forgotten ?? 0)}
      purged={list(result.purged_packs).length}
      held={list(result.in_packs).length}
      derived={list(result.derived)}
      also_in={list(result.also_in)}
      also_in_complete={result.also_in_complete !== false}
    />
    {list(result.moved).length > 0 && <p>{several(list(result.moved).length, "memory was", "memories were")} changed meanwhile, and stays.</p>}
    {list(result.gone).length > 0 && <p>{several(list(result.gone).length, "memory", "memories")} had gone before.</p>}
  </>
);

type Gone = { forgotten: number; purged: number; held: number; derived: string[]; also_in: Schema["CopyView"][]; also_in_complete: boolean };
function Receipt({ forgotten, purged, held, derived, also_in, also_in_complete }: Gone) {
  return (
    <>
      <p>
        {several(forgotten, "memory is", "memories are")} gone{purged > 0 && `, and ${several(purged, "frozen pack")} that held any of it`}.
      </p>
      {held > 0 && <p>{several(held, "frozen pack still holds", "frozen packs still hold")} it.</p>}
      {derived.length > 0 && <ul>{derived.map((id) => <li>still there, made of it: <a href={href(["memory", id])}><Words id={id} /></a></li>)}</ul>}
      {also_in.length > 0 && (
        <>
          <p>Its words may still stand here:</p>
          <Copies copies={also_in} complete={also_in_complete} />
        </>
      )}
    </>
  );
}
