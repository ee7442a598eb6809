/** "Why not this one?": of a memory that is looked up by its words, or by its id. */
import { useSignal } from "@preact/signals";
import { api, ours, type Schema } from "../../api.ts";
import { Item, tell } from "../../item.tsx";
import { useLoad, usePages } from "../../load.ts";
import { Badge, Empty, ErrorNote, Field, Text } from "../../parts/index.ts";
import { place, put } from "../../place.ts";
import { may } from "../../token.ts";
import { Place } from "./one.tsx";
import { words } from "./why.ts";

type Memory = Schema["MemoryView"];
type Told = NonNullable<Schema["ExplainedRecallView"]["why_not"]>;
const FEW = 6;

export function WhyNot({ recall }: { recall: string }) {
  const text = useSignal("");
  const id = place.value.query.why;
  const choose = (of: string) => {
    put({ why: of });
    text.value = "";
  };
  return (
    <section class="box" aria-labelledby="why">
      <h2 id="why">Why not this one?</h2>
      <form class="filters" onSubmit={(event) => (event.preventDefault(), text.value.trim() && choose(text.value.trim()))}>
        <Field label="Words of a memory, or its id" kind="search" value={text} />
        <button type="submit">Ask by id</button>
      </form>
      {text.value.trim() && may("records") && <Found wanted={text.value.trim().toLowerCase()} choose={choose} />}
      {id && <Answer recall={recall} id={id} />}
    </section>
  );
}

/** What is replaced or put away can be asked about, too. */
function Found({ wanted, choose }: { wanted: string; choose: (id: string) => void }) {
  const lists = ["", "superseded", "archived"].map((status) => usePages<Memory>(ours`/memories`, "memories", { status }));
  const found = lists.flatMap(({ rows }) => rows).filter((row) => row.id.toLowerCase() === wanted || row.text.toLowerCase().includes(wanted));
  return (
    <div role="group" aria-label="Memories">
      {lists.map(({ error, reload }) => <ErrorNote error={error} retry={reload} />)}
      {found.slice(-FEW).reverse().map((row) => (
        <button type="button" class="choice" onClick={() => (tell(row.id, { text: row.text, note: row.label ?? row.kind }), choose(row.id))}>
          <Text value={row.text} most={200} brief />
          {row.status !== "active" && <Badge>{row.status}</Badge>}
        </button>
      ))}
      <p class="dim" role="status">
        {lists.some(({ loading }) => loading) ? "Loading…" : found.length > FEW ? `and ${found.length - FEW} more` : !found.length && "No memory has these words."}
      </p>
    </div>
  );
}

function Answer({ recall, id }: { recall: string; id: string }) {
  const { value, error, reload } = useLoad((call) => api.get<Schema["ExplainedRecallView"]>(ours`/recalls/${recall}`, { ...call, query: { why_not: id } }), [recall, id]);
  const why: Told | undefined = value?.why_not;
  return (
    <div aria-live="polite">
      <p><Item id={id} /></p>
      <ErrorNote error={error} retry={reload} />
      {why ? <Why why={why} /> : value && <Empty>This service does not say why a memory was not recalled.</Empty>}
    </div>
  );
}

const NAMES: Record<string, string> = { lexical: "Keyword", vector: "Vector" };

function Why({ why }: { why: Told }) {
  return (
    <>
      <p>
        <Badge kind={why.found ? "good" : "bad"}>{why.found ? `hit ${why.rank ?? ""}` : "no hit"}</Badge> <b>{words(why.reason)}</b>
        {why.filters && <>: {why.filters.map((one) => one.replaceAll("_", " ")).join(", ")}</>}
        {why.status && why.status !== "active" && <>: it is {why.status} now</>}
        {why.told_by === "memory" && <span class="dim"> (by the memory as it is now)</span>}
      </p>
      <dl>
        {Object.entries(why.legs).map(([leg, of]) => (
          <>
            <dt>{NAMES[leg] ?? leg}</dt>
            <dd>{of.rank === undefined && of.score === undefined ? (of.status === "complete" ? `not among its best ${of.depth}` : of.status) : <Place rank={of.rank} score={of.score} note={leg === "vector" ? "cosine" : "BM25"} />}</dd>
          </>
        ))}
        {why.similarity !== undefined && <><dt>Similarity</dt><dd>{why.similarity.toFixed(2)}</dd></>}
        {why.score !== undefined && <><dt>Score</dt><dd>{why.score.toFixed(3)}</dd></>}
      </dl>
    </>
  );
}
