/** A job, a receipt, found again by its id. */
import { useSignal } from "@preact/signals";
import { Field } from "../../parts/index.ts";
import { go, place } from "../../place.ts";
import { Earlier } from "./export.tsx";
import { JobOf } from "./job.tsx";

export function Receipts() {
  const id = place.value.path[1];
  const words = useSignal(id ?? "");
  const open = (event: Event) => {
    event.preventDefault();
    if (words.value.trim()) go(["receipt", words.value.trim()]);
  };
  return (
    <>
      <form class="filters" onSubmit={open}>
        <Field label="The id of a job" kind="search" value={words} />
        <button type="submit">Open</button>
      </form>
      {id ? <JobOf key={id} id={id} /> : <Earlier />}
    </>
  );
}
