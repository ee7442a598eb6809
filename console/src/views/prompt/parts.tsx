/** The parts of a request: their texts, and how far the cache goes. */
import { useState } from "preact/hooks";
import { api, ours, type Schema } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Badge, count, Text, Tokens } from "../../parts/index.ts";
import { href, session } from "../../place.ts";

export type Seen = Schema["ContextOut"];
type Block = { type: string; text?: string };
type Message = { role: string; content: string | Block[] };
type Request = { tools?: unknown[]; messages?: Message[] };

/** `cached`: in front of the last place that the provider caches; `stable`: the next prompt begins with it, but nothing is
 * cached there; `fresh`: of this turn alone. */
export type State = "cached" | "stable" | "fresh";
export type Part = { name: string; tokens: number; state: State; why?: string | undefined; said: { by: string; text: string }[] };

export const STATES = [["cached", "in the cached prefix"], ["stable", "the same next time, but not cached"], ["fresh", "new in this turn"]] as const;

const NAMES: Record<string, string> = {
  tools: "Tools", static: "System: the tenant's prefix", system: "System: the caller's", instructions: "System: instructions", pack: "Pack", history: "History",
  updates: "What changed since the pack", retrieved: "Retrieved", task_state: "Task", session: "Clock and session", message: "Message",
};
export const nameOf = (part: string) => NAMES[part] ?? part;

export function partsOf({ report, parts = [], request = {} }: Seen): Part[] {
  const { breakpoints, stable_prefix_tokens } = report;
  const cached = Math.max(0, ...breakpoints.filter((one) => one.cacheable).map((one) => one.tokens));
  let end = 0;
  return parts.map(({ name, tokens, at, start, end: to }) => {
    end += tokens;
    const state = end <= cached ? "cached" : end <= stable_prefix_tokens ? "stable" : "fresh";
    const next = breakpoints.find((one) => one.tokens >= end);
    const why = state === "stable" && next ? `${next.why_not ?? "not cached"}: ${count(next.tokens)} of ${count(next.minimum)} tokens` : undefined;
    return { name, tokens, state, why, said: saidIn(name, request as Request, at, start, to) };
  });
}

/** Places are counted in whole characters, as strings here are not. */
const cut = (text: string, start = 0, end?: number) => [...text].slice(start, end).join("");

function saidIn(name: string, request: Request, at: string | undefined, start: number | undefined, end: number | undefined) {
  if (name === "tools") return (request.tools ?? []).map((tool) => ({ by: "", text: JSON.stringify(tool, null, 1) }));
  if (name === "history") return (request.messages ?? []).slice(0, -1).map(({ role, content }) => ({ by: role, text: textOf(content) }));
  if (at === undefined) {
    // A message without text, or one of which the log has more than the call, is what stands last.
    const last = name === "message" ? request.messages?.at(-1) : undefined;
    return last ? [{ by: last.role, text: textOf(last.content) }] : [];
  }
  let found: unknown = request;
  for (const step of at.slice(1).split("/")) found = (found as Record<string, unknown> | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  return typeof found === "string" ? [{ by: "", text: cut(found, start, end) }] : [];
}

const textOf = (content: Message["content"]) => (typeof content === "string" ? content : content.map((block) => block.text ?? (block.type === "image" ? "[an image]" : JSON.stringify(block, null, 1))).join("\n"));

/** Of a long history the newest ones are shown first. */
const FEW = 30;

export function Parts({ part: { name, tokens, state, why, said } }: { part: Part }) {
  const [all, show] = useState(false);
  const words = STATES.find(([one]) => one === state)?.[1];
  return (
    <details class={`part ${state}`} open>
      <summary>
        <b>{nameOf(name)}</b> <Tokens count={tokens} /> <span class={`key ${state}`}>{words}{why && ` (${why})`}</span>
      </summary>
      {said.length > FEW && !all && <button type="button" class="link" onClick={() => show(true)}>show all {said.length} messages</button>}
      {said.length ? said.slice(all ? 0 : -FEW).map(({ by, text }) => <div>{by && <Badge>{by}</Badge>} <Text value={text} most={800} /></div>) : <p class="dim">Its text stands in no place of its own.</p>}
      {name === "retrieved" && <Why />}
      {name === "pack" && <p><a href={href(["packs"])}>its versions</a></p>}
    </details>
  );
}

/** A dry run keeps no recall: the newest one of the session is that of its last real prompt. */
function Why() {
  const { value } = useLoad((call) => api.get<{ recalls: Schema["RecallRecordView"][] }>(ours`/recalls`, { ...call, query: { limit: 20 } }), []);
  const last = value?.recalls.find((one) => one.session_id === session.value);
  return <p><a href={href(last ? ["recall", last.id] : ["recall"])}>{last ? "why: the session's last recall" : "recalls"}</a></p>;
}
