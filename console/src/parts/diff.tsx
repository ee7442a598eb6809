/** Two texts held against each other: by words for a statement, by lines for a pack. */
import { diffLines } from "diff/lib/diff/line.js";
import { diffWordsWithSpace } from "diff/lib/diff/word.js";
import { marked } from "./text.tsx";

/** Above it only the two texts are shown: words of 100 KB would take seconds. */
const MOST = 40_000;

export function Diff({ before, after, by = "words" }: { before: string; after: string; by?: "words" | "lines" }) {
  const whole = before.length + after.length > MOST && by === "words";
  const parts = whole
    ? [{ value: before, removed: true, added: false }, { value: after, removed: false, added: true }]
    : by === "words" ? diffWordsWithSpace(before, after) : diffLines(before, after, {});
  return (
    <div class="text diff" dir="auto">
      {parts.map(({ value, added, removed }) => (added ? <ins>{marked(value)}</ins> : removed ? <del>{marked(value)}</del> : <span>{marked(value)}</span>))}
    </div>
  );
}
