import type { AgentInputItem } from "@openai/agents";

/** An event of Neve's log, as it is appended. */
export interface Event {
  event_type: "user_message" | "assistant_response" | "tool_call" | "tool_result" | "neutral";
  client_id: string;
  content?: string;
  event_data?: Record<string, unknown>;
}

/** What a transaction leaves in the log in front of its items. */
export interface Note {
  id: string;
  /** Of what it was to do. */
  op: string;
  /** The seqs that its items stand in place of. */
  replaces?: [number, number];
}

/** An item of the log, or a note, with the seqs of its events. */
export interface Entry {
  item?: AgentInputItem;
  note?: Note;
  seqs: number[];
}

/** Below the 256 KiB of docs/rules/http.md#limits, with room for what stands around the item. */
const EVENT_BYTES = 240_000;
/** Each at most two bytes as JSON in JSON. */
const PART_CHARACTERS = 100_000;
/** What memory reads of an item that is too large for an event (chosen). */
const READABLE_CHARACTERS = 30_000;
/** Signs that no text of the service may hold, as JSON writes them. */
const NOT_TAKEN = /\\[bf]|\\u(00|d)|[\u007f-\u009f]/;
const ID_LENGTH = 256;
const encoder = new TextEncoder();
export const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).length;

/** The events that keep an item: one that says what memory can read of it and holds the item; where the item is larger than an event
 * may be, or holds what none may, its JSON stands in neutral events behind that. `unread`: memory reads nothing of it. */
export function eventsOf(item: unknown, clientId: string, how: { unread?: boolean; inParts?: boolean } = {}): Event[] {
  const written = JSON.stringify(item, (_, value) => (value instanceof Uint8Array ? { $bytes: base64(value) } : value));
  const plain = JSON.parse(written);
  const head: Omit<Event, "client_id"> = how.unread || how.inParts ? { event_type: "neutral" } : readable(plain);
  const whole: Event = { ...head, client_id: clientId, event_data: { ...head.event_data, item: plain } };
  if (!how.inParts && !NOT_TAKEN.test(written) && bytesOf(whole) <= EVENT_BYTES) return [whole];
  const text = written.replace(/[\u007f-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const parts = Math.ceil(text.length / PART_CHARACTERS);
  const { args: _, ...data } = head.event_data ?? {};
  const short = { ...head, ...(head.content && { content: head.content.slice(0, READABLE_CHARACTERS).replace(/[\p{Cs}\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu, "") || "[no text]" }) };
  return [
    { ...short, client_id: clientId, event_data: { ...data, parts } },
    ...Array.from({ length: parts }, (_, number): Event => {
      const content = text.slice(number * PART_CHARACTERS, (number + 1) * PART_CHARACTERS);
      return { event_type: "neutral", client_id: `${clientId}.${number}`, event_data: { part_of: clientId, number, content } };
    }),
  ];
}

/** The items of a stretch of the log, oldest first, without what others stand in place of. What is no item (a boundary, a neutral event
 * of others) and what lacks a part is left out. */
export function entriesOf(events: any[]): Entry[] {
  const parts = new Map<string, any[]>();
  for (const { event_type, event_data, ...event } of events) {
    if (event_type === "neutral" && event_data?.part_of) parts.set(event_data.part_of, [...(parts.get(event_data.part_of) ?? []), { ...event, ...event_data }]);
  }
  const found: Entry[] = [];
  for (const event of events) {
    const { seq, client_id: clientId, event_data: data = {} } = event;
    const of = { seqs: [seq] };
    if (data.parts) {
      const own = (parts.get(clientId) ?? []).sort((one, other) => one.number - other.number);
      if (own.length === data.parts) found.push({ ...of, item: revived(own.map(({ content }) => content).join("")), seqs: [seq, ...own.map((part) => part.seq)] });
    } else if (data.item) found.push({ ...of, item: revived(JSON.stringify(data.item)) });
    else if (data.op) found.push({ ...of, note: { id: clientId, op: data.op, replaces: data.replaces } });
    else found.push(...said(event).map((item) => ({ ...of, item })));
  }
  const hidden = found.flatMap(({ note }) => (note?.replaces ? [note.replaces] : []));
  return found.filter(({ note, seqs: [seq] }) => note || !hidden.some(([from, to]) => seq! >= from && seq! <= to));
}

/** The last `limit` items, and more where a result would lose its call, or a call the thought that led to it. */
export function newest(items: AgentInputItem[], limit: number | undefined): AgentInputItem[] {
  return limit === undefined ? items : items.slice(startOf(items, limit));
}

/** Whether an end of the log holds all that `newest` gives of the whole log. */
export function isWhole(items: AgentInputItem[], limit: number): boolean {
  const start = startOf(items, limit);
  const shown: any[] = items.slice(start);
  const called = new Set(shown.filter((item) => !isResult(item)).map(({ callId }) => callId));
  return start > 0 && shown.every((item) => !isResult(item) || called.has(item.callId));
}

function startOf(items: any[], limit: number): number {
  let start = Math.max(0, items.length - limit);
  if (start === items.length) return start;
  const places = new Map(items.flatMap((item, at) => (item.callId && !isResult(item) ? [[item.callId, at]] : [])));
  for (let at = items.length - 1; at >= start; at--) if (isResult(items[at])) start = Math.min(start, places.get(items[at].callId) ?? start);
  while (start > 0 && items[start - 1].type === "reasoning") start--;
  return start;
}

const isResult = ({ type }: any): boolean => /_(result|output)$/.test(type ?? "");

/* What memory can read of an item: a neutral event where it is none of a user, an assistant or a tool. */
function readable(item: any): Omit<Event, "client_id"> {
  const { type = "message", role, callId, name, content, arguments: args, output } = item;
  const text = textOf(content).trim();
  if (type === "message" && text && role === "user") return { event_type: "user_message", content: text };
  if (type === "message" && text && role === "assistant") return { event_type: "assistant_response", content: text };
  if ([callId, name].some((one) => typeof one !== "string" || !one.trim() || one.length > ID_LENGTH)) return { event_type: "neutral" };
  if (type === "function_call") return { event_type: "tool_call", content: "", event_data: { tool_use_id: callId, name, args: parsed(args) } };
  if (type === "function_call_result") return { event_type: "tool_result", content: textOf(output), event_data: { tool_use_id: callId, name } };
  return { event_type: "neutral" };
}

function textOf(content: any): string {
  if (typeof content === "string") return content;
  const parts: any[] = Array.isArray(content) ? content : [content];
  return parts.flatMap((part) => part?.text ?? part?.refusal ?? part?.transcript ?? []).filter((text) => typeof text === "string").join("\n");
}

function parsed(args: unknown): unknown {
  try {
    return JSON.parse(args as string);
  } catch {
    return args;
  }
}

/* The items that an event of others stands for. */
function said({ event_type, content, event_data: data }: any): AgentInputItem[] {
  const text = textOf(content);
  const answer: AgentInputItem[] = text ? [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] }] : [];
  if (event_type === "user_message") return text ? [{ type: "message", role: "user", content: text }] : [];
  if (event_type === "assistant_response") return answer;
  const { tool_use_id: callId, name, args = {} } = data ?? {};
  if (event_type === "tool_call") return [...answer, { type: "function_call", callId, name, status: "completed", arguments: typeof args === "string" ? args : JSON.stringify(args) }];
  if (event_type === "tool_result") return [{ type: "function_call_result", callId, name, status: "completed", output: { type: "text", text } }];
  return [];
}

function revived(text: string): AgentInputItem {
  try {
    return JSON.parse(text, (_, value) => (typeof value?.$bytes === "string" ? Uint8Array.from(atob(value.$bytes), (sign) => sign.charCodeAt(0)) : value));
  } catch {
    return { type: "unknown", providerData: { text } }; // the privacy policy took out a number
  }
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
