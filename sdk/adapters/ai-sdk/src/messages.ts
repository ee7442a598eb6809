/** A message of the SDK's, of a form that JSON can say. */
export interface Message {
  role: string;
  content: any;
  id?: string;
  [more: string]: unknown;
}

/** What the model answered in one step. */
export interface Answer {
  content: any[];
  /** False where the stream broke off. */
  whole: boolean;
  /** It calls tools whose results it will be given. */
  goesOn: boolean;
  used: { input: number; cacheRead: number; cacheWrite: number; output: number } | undefined;
}

/** Of a stream: what Anthropic says of the answer before it begins. It is no part of it. */
const BEGINS = "anthropic.message_start";
const ROLES = new Set(["user", "assistant", "tool"]);

/** What was said in a prompt, without its system messages. A message of a role that is not known is one that Neve keeps as it is. */
export function said(prompt: any[]): Message[] {
  return prompt.flatMap(({ providerOptions: _, ...message }) => {
    if (message.role === "system") return [];
    if (!ROLES.has(message.role)) return [{ role: "system", content: [{ type: "message", message: plain(message) }] }];
    return [{ ...plain(message), content: typeof message.content === "string" ? message.content : message.content.map(placed) }];
  });
}

/** A part in a form that Neve takes. A file that is not there itself (a reference of a provider's) is kept as it is, whatever it shows. */
function placed(part: any): any {
  const { data } = part;
  const elsewhere = part.type === "file" && data && typeof data === "object" && !(data instanceof Uint8Array || data instanceof URL || data.type === "data" || data.type === "url");
  return elsewhere ? { type: "file-elsewhere", part: plain(part) } : plain(part);
}

/** Bytes as base64, addresses and times as text, without what JSON has no word for. */
function plain(value: any): any {
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return base64(new Uint8Array(value));
  if (value instanceof URL) return value.href;
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!value || typeof value !== "object" || typeof value.toJSON === "function") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** The same for the same words, in whatever process. */
export async function idOf(value: unknown): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(value)));
  return Array.from(new Uint8Array(sum, 0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A result of `doGenerate` as an answer. */
export function answerOf({ content, finishReason, usage }: any): Answer {
  return { content: content.map(partOf), whole: true, goesOn: (finishReason?.unified ?? finishReason) === "tool-calls", used: usageOf(usage) };
}

/** Makes of a part of an answer the part of a message. What has no such part stays as it is. */
function partOf({ providerMetadata, ...part }: any): any {
  if (part.type === "reasoning") return { ...plain(part), ...(providerMetadata && { providerOptions: plain(providerMetadata) }) };
  if (part.type === "tool-call") return { ...plain(part), input: parsed(part.input) };
  return placed(/^(text|file)$/.test(part.type) || !providerMetadata ? part : { ...part, providerMetadata });
}

function parsed(input: unknown): unknown {
  try {
    return typeof input === "string" ? JSON.parse(input || "{}") : input;
  } catch {
    return input;
  }
}

function usageOf(usage: any): Answer["used"] {
  const { inputTokens: all, outputTokens } = usage ?? {};
  if (!all && !outputTokens) return undefined;
  const { cacheRead = 0, cacheWrite = 0 } = all ?? {};
  return { input: all?.total ?? (all?.noCache ?? 0) + cacheRead + cacheWrite, cacheRead, cacheWrite, output: outputTokens?.total ?? 0 };
}

/** Puts the parts of a stream together. */
export function collected(): { take(part: any): void; answer(whole: boolean): Answer; modelId(): string | undefined } {
  const content: any[] = [];
  const open = new Map<string, { type: string; text: string; providerMetadata?: unknown; citations?: unknown }>();
  let finish: any;
  let modelId: string | undefined;
  return {
    take(part) {
      const [, kind, event] = /^(text|reasoning)-(start|delta|end)$/.exec(part.type) ?? [];
      if (kind) {
        let one = open.get(kind + part.id);
        if (!one) {
          open.set(kind + part.id, (one = { type: kind, text: "" }));
          content.push(one);
        }
        one.text += part.delta ?? "";
        for (const name of ["providerMetadata", "citations"] as const) if (part[name]) one[name] = part[name];
        if (event === "end") open.delete(kind + part.id);
      } else if (part.type === "response-metadata") modelId = part.modelId;
      else if (part.type === "finish") finish = part;
      else if (!/^(stream-start|ping|raw|error|tool-input-.*)$/.test(part.type) && !part.preliminary && part.kind !== BEGINS) content.push(part);
    },
    answer: (whole) => ({ ...answerOf({ content: content.filter(({ type, text }) => type !== "text" || text), finishReason: finish?.finishReason, usage: finish?.usage }), whole }),
    modelId: () => modelId,
  };
}
