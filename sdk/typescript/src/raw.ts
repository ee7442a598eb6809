import type { operations } from "./api.js";
import { TABLE } from "./operations.js";
import type { Transport } from "./transport.js";

type At<Of, Name> = Name extends keyof Of ? Of[Name] : Name extends keyof NonNullable<Of> ? NonNullable<Of>[Name] : never;
type Content<Of> = Of extends { content: infer Types } ? (Types extends Record<string, never> ? void : Types[keyof Types]) : void;
type Responses<Id extends keyof operations> = operations[Id]["responses"];

export type Body<Id extends keyof operations> = Content<NonNullable<At<operations[Id], "requestBody">>>;
export type Query<Id extends keyof operations> = NonNullable<At<operations[Id]["parameters"], "query">>;
export type Result<Id extends keyof operations> = {
  [Status in Extract<keyof Responses<Id>, 200 | 201 | 202 | 204>]: Content<Responses<Id>[Status]>;
}[Extract<keyof Responses<Id>, 200 | 201 | 202 | 204>];

export interface RawOptions {
  query?: object;
  /** The rev that is to be changed. */
  ifMatch?: number | string;
  ifNoneMatch?: string;
  /** In place of one that is made for the call. */
  idempotencyKey?: string;
  timeoutMs?: number | undefined;
  /** @internal */
  span?: string;
}

const CALLS = new Map(TABLE.split("\n").map((row) => [row.slice(0, row.indexOf(" ")), row.split(" ")]));

/** Carries out one operation: the ids of its path, its body or its query, options. A body that is a text is sent as Markdown, where
 * the operation imports as JSON lines. */
export async function call(transport: Transport, defaultMs: number, name: string, given: unknown[]): Promise<unknown> {
  const row = CALLS.get(name);
  if (!row) throw new TypeError(`neve.raw.${name} is no operation of the API`);
  const method = row[1]!;
  const path = row[2]!.replace(/\*/g, () => encodeURIComponent(String(given.shift())));
  const asks = /get|DELETE/.test(method);
  const sent = method.endsWith("!") ? undefined : given.shift();
  const { query, ifMatch, ifNoneMatch, idempotencyKey = crypto.randomUUID(), timeoutMs = defaultMs, span } = (given[0] ?? {}) as RawOptions;
  const headers = {
    ...(method < "a" && { "Idempotency-Key": idempotencyKey }),
    ...(ifMatch !== undefined && { "If-Match": typeof ifMatch === "number" ? `"${ifMatch}"` : ifMatch }),
    ...(ifNoneMatch && { "If-None-Match": ifNoneMatch }),
  };
  const answer = await transport.send({
    method: method.toUpperCase().replace("!", ""),
    path,
    query: (asks ? sent : query) as Record<string, unknown> | undefined,
    body: asks ? undefined : sent,
    contentType: name === "importMemories" ? "application/jsonl" : undefined,
    headers,
    timeoutMs,
    span,
  });
  return answer.body;
}
