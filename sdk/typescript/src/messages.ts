import { wrong } from "./errors.js";
import type { Fate } from "./outbox.js";

/** A message in the form of a provider (Anthropic, OpenAI Chat Completions, OpenAI Responses, AI SDK, Gemini), as it is. */
export type Message = Record<string, any>;

/** What the chat says: one message, a text (of the user), the answer of a provider's client, or a list of them. */
export type Said = string | object | readonly (string | object)[];

/** A message that is to be appended. */
export interface Kept {
  id: string;
  message: Message;
  /** It came alone, so that it is new, whatever it says. */
  readonly alone: boolean;
  /** It was sent, so that the service may have it, whatever was answered. */
  tried?: boolean;
  /** The same for the same role and content. */
  readonly print: string;
  /** An upper bound of the events it becomes. */
  readonly events: number;
  readonly bytes: number;
  /** Known once the service, or this package, has decided about it. */
  fate?: Fate;
}

/* Not what is said, but about it: the message as it is sent back to its provider has the same print. */
const ABOUT = new Set(["id", "created_at", "metadata", "status"]);
const MARKS = new Set(["cache_control", "providerOptions"]);
const encoder = new TextEncoder();

/** The provider's messages in `said`. @throws NeveBadRequest naming the message that has no known shape. */
export function messagesOf(said: Said): Message[] {
  const all: readonly unknown[] = Array.isArray(said) ? said : [said];
  return all.flatMap((one, at) => {
    const found = shapes(one);
    if (found) return found;
    throw wrong("unknown_message", `messages.${at}`, "has no known shape: pass a message with `role`, a text, or what a provider's client has answered");
  });
}

function shapes(one: any): Message[] | undefined {
  if (typeof one === "string") return [{ role: "user", content: one }];
  if (!one || typeof one !== "object") return undefined;
  if (one.choices?.[0]?.message) return [one.choices[0].message]; // a chat completion
  if (one.object === "response" && Array.isArray(one.output)) return one.output; // of the Responses API
  if (Array.isArray(one.response?.messages)) return one.response.messages; // of the AI SDK
  if (one.candidates?.[0]?.content) return [one.candidates[0].content]; // of Gemini
  if (one.type === "message" && one.model) return [{ role: one.role, content: one.content }]; // of Anthropic
  return typeof one.role === "string" || /^reasoning$|_call$|_output$/.test(one.type) ? [one] : undefined;
}

/** Whether a message may wait for the next one: what the model said or asked. */
export function isAnswer({ role, type }: Message): boolean {
  return role ? /^(assistant|model)$/.test(role) : !/_output$/.test(type);
}

/** Whether it is the user who speaks, and not the result of a tool. */
export function isUsers(message: Message): boolean {
  return message.role === "user" && !parts(message).some(({ type, functionResponse }) => /^tool/.test(type) || functionResponse);
}

export async function printOf(message: Message): Promise<string> {
  const said = Object.fromEntries(Object.entries(message).filter(([name]) => !ABOUT.has(name)));
  const sum = await crypto.subtle.digest("SHA-256", encoder.encode(JSON.stringify(plain(said))));
  return Array.from(new Uint8Array(sum, 0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function kept(id: string, message: Message, print: string, alone: boolean): Kept {
  const calls = parts(message).filter((part) => /^tool|^function/.test(part.type ?? Object.keys(part)[0])).length;
  const events = 1 + calls + (message.tool_calls?.length ?? 0);
  return { id, message: { ...message, id }, alone, print, events, bytes: encoder.encode(JSON.stringify(message)).length + 64 };
}

function parts({ content, parts }: Message): any[] {
  const found = content ?? parts;
  return Array.isArray(found) ? found : [];
}

/* Sorted, without what is empty. */
function plain(value: any): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!value || typeof value !== "object") return value;
  return Object.keys(value)
    .filter((name) => !MARKS.has(name) && value[name] != null && value[name].length !== 0)
    .sort()
    .map((name) => [name, plain(value[name])]);
}
