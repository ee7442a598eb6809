/** What the service calls things, in words; and the line of marks that a memory has in every list. */
import type { Schema } from "../../api.ts";
import { Badge, Text } from "../../parts/index.ts";

export type Memory = Schema["MemoryView"];

export const KINDS: Record<string, string> = { fact: "fact", observation: "observation", reflection: "reflection", session_summary: "summary", note: "note", manual: "by hand" };
export const STATUSES: Record<string, string> = { active: "active", resolved: "done", inbox: "waits for a decision", superseded: "replaced", archived: "archived" };
export const CATEGORIES = ["PERSON", "PLACE", "EVENT", "PREFERENCE", "BIOGRAPHY"];
export const BY: Record<string, string> = {
  user_stated: "said by the user",
  user_confirmed: "confirmed by a person",
  assistant: "said by the assistant",
  tool: "from a tool's answer",
  import: "brought in by an import",
  human_edit: "written by a person",
};

export const choices = (all: string, words: Record<string, string> | string[]): [string, string][] =>
  [["", all], ...(Array.isArray(words) ? words.map((one): [string, string] => [one, one.toLowerCase()]) : Object.entries(words))];

export function Marks({ row }: { row: Memory }) {
  return (
    <>
      <Badge>{KINDS[row.kind] ?? row.kind}</Badge>
      {row.category && <Badge>{row.category.toLowerCase()}</Badge>}
      {row.label && <Badge><Text value={row.label} most={40} brief /></Badge>}
      {row.status !== "active" && <Badge kind={row.status === "inbox" ? "bad" : ""}>{STATUSES[row.status] ?? row.status}</Badge>}
      {row.priority === "high" && <Badge kind="good">high priority</Badge>}
      {row.written_by && <Badge>written by a model</Badge>}
      {row.never_recall && <Badge kind="bad">never recalled</Badge>}
      {!row.holds && <Badge kind="bad">does not hold now</Badge>}
    </>
  );
}
