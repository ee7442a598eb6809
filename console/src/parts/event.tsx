/** One event of a conversation in words: who said what, a tool call as a sentence, an image by its name. */
import type { Schema } from "../api.ts";
import { Text } from "./text.tsx";

type Event = Schema["EventOut"];
/** An answer of more letters is folded. */
const LONG = 400;

const string = (value: unknown) => (typeof value === "string" ? value : "");

/** `q: tea, limit: 3`, and of a list how many there are: JSON is for machines. */
const named = (value: unknown): string =>
  typeof value === "string" ? value
  : Array.isArray(value) ? `${value.length} ${value.length === 1 ? "item" : "items"}${value.length ? ` (${value.slice(0, 5).map(named).join("; ")}${value.length > 5 ? "; …" : ""})` : ""}`
  : value && typeof value === "object" ? Object.entries(value).map(([name, one]) => `${name}: ${named(one)}`).join(", ")
  : String(value ?? "");

const LARGE = 20_000;
const parsed = (text: string): unknown => {
  if (text.length > LARGE || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const pictured = (block: Record<string, unknown>) => `[image ${string(block.url) || string(block.upload_id).slice(0, 8)} ${string(block.media_type)}]`;

/** The words of an event alone. */
export const wordsOf = ({ content }: Event) =>
  typeof content === "string" ? content : content.map((block) => (block.type === "image" ? pictured(block) : string(block.text) || `[${named(block.type)}]`)).join("\n");

export const speaker = (event: Event) =>
  event.event_type === "user_message" ? (event.name ?? event.participant ?? "user") : event.event_type === "assistant_response" ? (event.name ?? "assistant") : event.event_type === "neutral" ? "the program" : "";

/** The whole of it in one sentence, for a row. */
export function sentence(event: Event): string {
  const { name, args, is_error, kind } = event.event_data ?? {};
  const words = wordsOf(event);
  switch (event.event_type) {
    case "tool_call": {
      const with_ = named(args);
      return `${words ? `${words} · ` : ""}called ${named(name)}${with_ && ` with ${with_}`}`;
    }
    case "tool_result":
      return `${named(name)} ${is_error ? "failed" : "answered"}: ${named(parsed(words))}`;
    case "task_boundary":
      return `${kind === "topic" ? "Another topic" : "A task is done"}: ${words}`;
    default:
      return event.erased ? "Deleted: nothing of it is kept." : words || (event.event_data ? named(event.event_data) : "");
  }
}

/** The whole event. What a tool answered at length is folded. */
export function Said({ event }: { event: Event }) {
  const whole = sentence(event);
  const who = speaker(event);
  const words = event.event_type === "tool_result" ? wordsOf(event) : "";
  const json = parsed(words);
  return (
    <div class="words">
      {who && <b><Text value={who} most={80} /> </b>}
      {words.length > LONG || json !== words ? (
        <details>
          <summary><Text value={whole} most={120} brief /></summary>
          <pre><Text value={json === words ? words : JSON.stringify(json, null, 2)} /></pre>
        </details>
      ) : (
        <Text value={whole} />
      )}
    </div>
  );
}
