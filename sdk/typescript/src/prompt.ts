import type { Message } from "./messages.js";

/** What is passed whole to a provider's client, by format. */
export interface Requests {
  /** `client.messages.create({ model, max_tokens, ...request })` */
  anthropic: { system?: any[]; messages: any[]; tools?: any[] };
  /** `client.chat.completions.create({ model, ...request })` */
  openai: { messages: any[]; tools?: any[] };
  /** `client.responses.create({ model, ...request })` */
  openai_responses: { instructions?: string; input: any[]; tools?: any[] };
  /** `generateText({ model, ...request })` */
  ai_sdk: { instructions?: any; messages: any[]; tools?: any };
  /** `models.generateContent`, REST names */
  gemini: { system_instruction?: any; contents: any[]; tools?: any[] };
}

export type Format = keyof Requests;

export interface PromptInfo<F extends Format> {
  /** The arguments alone. */
  readonly request: Requests[F];
  /** What `usage` reports against. Absent where Neve did not compile it. */
  readonly promptId?: string;
  /** Made here, from the last prompt or pack and the messages that this process knows, because Neve could not be asked. */
  readonly stale: boolean;
  readonly degraded: string[];
  /** Cut names of tools, and what they were sent as. */
  readonly toolNames?: Record<string, string>;
  readonly report?: any;
}

/** The arguments for the provider's client: `create({ model, ...prompt })` passes them and nothing else, since what is said about
 * them is not enumerable. */
export type Prompt<F extends Format = "anthropic"> = Requests[F] & PromptInfo<F>;

export function promptOf<F extends Format>(request: Requests[F], about: Omit<PromptInfo<F>, "request">): Prompt<F> {
  const prompt = { ...request };
  for (const [name, value] of Object.entries({ request, ...about })) Object.defineProperty(prompt, name, { value });
  return prompt as Prompt<F>;
}

const LISTS = { anthropic: "messages", openai: "messages", openai_responses: "input", ai_sdk: "messages", gemini: "contents" } as const;

/** The last request that was compiled, to go on from. */
export interface Base {
  format: Format;
  request: any;
}

export function baseOf(format: Format, request: any, withoutLast: boolean): Base {
  const list = request[LISTS[format]];
  return { format, request: withoutLast ? { ...request, [LISTS[format]]: list.slice(0, -1) } : request };
}

export function withoutMessages({ format, request }: Base): Base {
  const list: any[] = request[LISTS[format]];
  return { format, request: { ...request, [LISTS[format]]: list.filter(({ role }) => role === "system" || role === "developer") } };
}

/** A prompt without Neve: byte for byte what the last one began with, then what was said since. */
export function offline(format: Format, base: Base | undefined, pack: string, said: Message[], options: { system?: any; tools?: any }): any {
  const list = LISTS[format];
  const same = base?.format === format;
  const sent: Message[] = same ? [...base.request[list]] : [];
  for (const message of said) {
    const next = bare(message, format);
    const last = sent.at(-1);
    if (!last && next.role !== "user") continue; // a conversation begins with its user
    if (format === "anthropic" && last?.role === next.role) sent[sent.length - 1] = { role: next.role, content: [...blocks(last!), ...blocks(next)] };
    else sent.push(next);
  }
  if (same) return { ...base.request, [list]: sent };
  const given = typeof options.system === "string" ? options.system : ((options.system ?? []) as any[]).map(({ text }) => text).join("\n\n");
  const text = [given, pack].filter(Boolean).join("\n\n");
  const request: any = { [list]: sent };
  if (options.tools) request.tools = options.tools;
  if (!text) return request;
  if (format === "openai") sent.unshift({ role: "system", content: text });
  else if (format === "anthropic") request.system = [{ type: "text", text, cache_control: { type: "ephemeral" } }];
  else if (format === "gemini") request.system_instruction = { parts: [{ text }] };
  else request.instructions = text;
  return request;
}

function blocks({ content }: Message): any[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/* Without the fields that are Neve's; a plain text in the form of the format. */
function bare({ created_at, metadata, id, ...message }: Message, format: Format): Message {
  if (format === "gemini" && typeof message.content === "string") return { role: message.role === "user" ? "user" : "model", parts: [{ text: message.content }] };
  return id && !message.role ? { id, ...message } : message;
}
