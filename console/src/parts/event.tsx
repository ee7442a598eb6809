/** One event of a conversation in words: who said what, a tool call as a sentence, an image by its name. */
import type { Schema } from "../api.ts";
import { Text } from "./text.tsx";

type Event = Schema["EventOut"];
const LONG = 400;

const string = (value: unknown) => (typeof value === "string" ? value : "");
const inWords = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** `q: tea, limit: 3` */
const named = (args: unknown) =>
  args && typeof args === "object" && !Array.isArray(args) ? Object.entries(args).map(([name, value]) => `${name}: ${inWords(value)}`).join(", ") : inWords(args ?? "");

const pictured = (block: Record<string, unknown>) => `[image ${string(block.url) || string(block.upload_id).slice(0, 8)} ${string(block.media_type)}]`;

/** The words of an event alone. */
export const wordsOf = ({ content }: Event) =>
  typeof content === "string" ? content : content.map((block) => (block.type === "image" ? pictured(block) : string(block.text) || `[${inWords(block.type)}]`)).join("\n");

export const speaker = (event: Event) =>
  event.event_type === "user_message" ? (event.name ?? event.participant ?? "user") : event.event_type === "assistant_response" ? (event.name ?? "assistant") : event.event_type === "neutral" ? "the program" : "";

/** The whole of it in one sentence, for a row. */
export function sentence(event: Event): string {
  const { name, args, is_error, kind } = event.event_data ?? {};
  const words = wordsOf(event);
  switch (event.event_type) {
    case "tool_call": {
      const with_ = named(args);
      return `${words ? `${words} · ` : ""}called ${inWords(name)}${with_ && ` with ${with_}`}`;
    }
    case "tool_result":
      return `${inWords(name)} ${is_error ? "failed" : "answered"}: ${words}`;
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
  const folded = event.event_type === "tool_result" && whole.length > LONG;
  return (
    <div class="said">
      {who && <b><Text value={who} most={80} /> </b>}
      {folded ? (
        <details>
          <summary><Text value={whole} most={120} brief /></summary>
          <pre><Text value={wordsOf(event)} /></pre>
        </details>
      ) : (
        <Text value={whole} />
      )}
    </div>
  );
}
