/** The memory browser: everything that is kept of a user, filtered by the service and searched by words on the page. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ours, type Schema } from "../api.ts";
import { usePages } from "../load.ts";
import { Badge, Busy, count, Empty, ErrorNote, Field, Text, Time, Window } from "../parts/index.ts";
import { go, place, put } from "../place.ts";

type Memory = Schema["MemoryView"];

const KINDS = [["", "every kind"], ["fact", "facts"], ["observation", "observations"], ["reflection", "reflections"], ["session_summary", "summaries"], ["note", "notes"], ["manual", "by hand"]] as const;
const STATUSES = [["", "in use"], ["active", "active"], ["resolved", "resolved"], ["inbox", "waits for a decision"], ["superseded", "superseded"], ["archived", "archived"]] as const;
const ORDERS = [["", "newest first"], ["oldest", "oldest first"]] as const;
const ROW_PX = 76;

/** A signal of what stands in the address under that name, and writes itself back. */
function useKept(name: string) {
  const value = useSignal(place.value.query[name] ?? "");
  return { value, onChange: (text: string) => put({ [name]: text }) };
}

export function Memories() {
  const words = useKept("q");
  const kind = useKept("kind");
  const status = useKept("status");
  const by = useKept("by");
  const order = useKept("order");
  const asOf = useKept("as_of");
  const time = asOf.value.value && new Date(asOf.value.value);
  const { rows, loading, error, more, reload } = usePages<Memory>(ours`/memories`, "memories", {
    kind: kind.value.value,
    status: status.value.value,
    written_by: by.value.value === "model" ? "model" : "",
    never_recall: by.value.value === "never" || undefined,
    as_of: time && !Number.isNaN(+time) ? time.toISOString() : "",
  });
  const wanted = words.value.value.trim().toLowerCase();
  const found = useMemo(() => {
    const kept = wanted ? rows.filter((row) => row.text.toLowerCase().includes(wanted) || row.id === wanted || row.tags.some((tag) => tag.toLowerCase() === wanted)) : rows;
    return order.value.value === "oldest" ? kept : kept.toReversed();
  }, [rows, wanted, order.value.value]);
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Search" kind="search" {...words} />
        <Field label="Kind" options={[...KINDS]} {...kind} />
        <Field label="Status" options={[...STATUSES]} {...status} />
        <Field label="Only" options={[["", "all"], ["model", "written by a model"], ["never", "never recalled"]]} {...by} />
        <Field label="Order" options={[...ORDERS]} {...order} />
        <Field label="As of" kind="datetime-local" {...asOf} />
      </form>
      <p class="dim" role="status">
        {wanted ? `${count(found.length)} of ${count(rows.length)}` : count(rows.length)} memories{loading && ", loading…"}
        {more && (
          <button type="button" class="link" onClick={more}>
            load more
          </button>
        )}
      </p>
      <ErrorNote error={error} retry={reload} />
      {found.length > 0 ? (
        <Window rows={found} height={ROW_PX} label="Memories" id={(row) => row.id} render={(row) => <Row row={row} />} onOpen={(row) => go(["memory", row.id])} />
      ) : loading ? (
        <Busy />
      ) : (
        <Empty>{rows.length ? "No memory has these words." : "Nothing is remembered here yet: a session is observed some seconds after something was said in it."}</Empty>
      )}
    </>
  );
}

function Row({ row }: { row: Memory }) {
  return (
    <>
      <Text value={row.text} most={300} brief />
      <div class="line dim">
        <Badge>{row.label ?? row.kind}</Badge>
        {row.status !== "active" && <Badge kind={row.status === "inbox" ? "bad" : ""}>{row.status}</Badge>}
        {row.written_by && <Badge>written by a model</Badge>}
        {row.never_recall && <Badge kind="bad">never recalled</Badge>}
        {!row.holds && <Badge>does not hold now</Badge>}
        <Time at={row.observed_at} />
      </div>
    </>
  );
}
