/** What is not in the prompt, and why; and what was broken or late. */
import { Item } from "../../item.tsx";
import { Badge, Text } from "../../parts/index.ts";
import { flag } from "../recall/why.ts";
import { nameOf, type Seen } from "./parts.tsx";

const FEW = 20;
const isId = (text: string) => /^(mem_|doc_|evt:)/.test(text);

export function LeftOut({ seen: { report, degraded, memory_lag, parts } }: { seen: Seen }) {
  const { pruned, history, pack_left_out = [], pack_also_left_out = 0, prefix_changed } = report;
  const notes = [
    parts?.every(({ name }) => name !== "retrieved") && "Nothing is retrieved: there is nothing that the prompt does not say already",
    history?.hidden && `The events ${history.hidden.from} to ${history.hidden.to} are summarised`,
    history?.cut_for_message && "One long message leaves no room for all of the history",
    history?.epoch_changed && "This prompt cuts the history: the cache is written again from there",
    prefix_changed && "What stands in front of the pack has changed: nothing that was cached is hit",
    memory_lag?.unobserved && `${memory_lag.unobserved} events are not observed yet`,
  ].filter((note) => typeof note === "string");
  const lists = [...pruned, ...(pack_left_out.length ? [{ section: "pack", items: pack_left_out, why: `no room in it${pack_also_left_out ? `, nor for ${pack_also_left_out} more` : ""}` }] : [])];
  if (!notes.length && !lists.length && !degraded.length) return <p class="dim">Nothing was left out.</p>;
  return (
    <section class="box" aria-labelledby="out">
      <h2 id="out">Left out, and why</h2>
      {degraded.length > 0 && <p class="line">{degraded.map((one) => <Badge kind="bad">{flag(one)}</Badge>)}</p>}
      {notes.map((note) => <p>{note}.</p>)}
      {lists.map(({ section, items, why }) => (
        <details open={items.length <= 3}>
          <summary><b>{nameOf(section)}</b>: {why} <Badge>{items.length}</Badge></summary>
          {items.slice(0, FEW).map((item) => <p>{isId(item) ? <Item id={item} /> : <Text value={item} most={300} />}</p>)}
          {items.length > FEW && <p class="dim">and {items.length - FEW} more</p>}
        </details>
      ))}
    </section>
  );
}
