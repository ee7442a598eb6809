/** Every request of the page: to its own origin, with the token; what fails on the way is tried again. */
import { signal } from "@preact/signals";
import type { components } from "../../sdk/typescript/src/api.ts";
import { type Query, search, user } from "./place.ts";
import { another, bearer } from "./token.ts";

export type Schema = components["schemas"];
export type Asked = { query?: Query; signal?: AbortSignal };
export type Written = Asked & { ifMatch?: number; key?: string };

/** A refusal of the service, or that nobody answered (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: { field: string; message: string }[] = [],
    readonly requestId = "",
  ) {
    super(message);
  }
}

/** Since when nobody answers, and when somebody last did. */
export const down = signal<Date | null>(null);
export const lastAnswer = signal(new Date());

const FIRST_S = 1;
const LONGEST_S = 30;
/** A gateway that has no service behind it now. 500 is an answer of the service itself. */
const AWAY = [502, 503, 504];
let pause = FIRST_S;
let turn: { over: Promise<void>; end: () => void } | null = null;

/** All that waits is tried again together; the button does not wait. */
export const tryNow = () => turn?.end();

function nextTurn(): Promise<void> {
  if (!turn) {
    let end = () => {};
    const over = new Promise<void>((resolve) => (end = resolve));
    const timer = setTimeout(end, pause * 1000);
    pause = Math.min(pause * 2, LONGEST_S);
    const mine = { over, end };
    turn = mine;
    void over.then(() => {
      clearTimeout(timer);
      if (turn === mine) turn = null;
    });
  }
  return turn.over;
}

async function sent(method: string, path: string, body: unknown, asked: Written): Promise<Response> {
  const headers: Record<string, string> = { Authorization: `Bearer ${bearer()}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (asked.ifMatch !== undefined) headers["If-Match"] = `"${asked.ifMatch}"`;
  if (asked.key) headers["Idempotency-Key"] = asked.key;
  const init: RequestInit = { method, headers, cache: "no-store", redirect: "error", credentials: "omit", referrerPolicy: "no-referrer" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (asked.signal) init.signal = asked.signal;
  return fetch(`/v1${path}${search(asked.query ?? {})}`, init);
}

/** Reads are tried for as long as somebody looks at them, writes three times with one key: they are done once. */
async function call<T>(method: string, path: string, body: unknown, asked: Written): Promise<{ value: T; rev: number | undefined }> {
  const patient = method === "GET";
  for (let attempt = 1; ; attempt++) {
    const used = bearer();
    const answer = await sent(method, path, body, asked).catch((error: unknown) => {
      if (asked.signal?.aborted) throw error;
      return null;
    });
    if (answer && !AWAY.includes(answer.status)) {
      down.value = null;
      pause = FIRST_S;
      lastAnswer.value = new Date();
      tryNow();
      if (answer.status === 401) {
        const problem = await refusal(answer);
        await another(used, problem.message);
        continue;
      }
      if (answer.status === 429 && attempt < 5) {
        await new Promise((resolve) => setTimeout(resolve, 1000 * Number(answer.headers.get("Retry-After") ?? 1)));
        continue;
      }
      if (!answer.ok) throw await refusal(answer);
      const rev = Number(answer.headers.get("ETag")?.replace(/^"|"$/g, ""));
      return { value: (answer.status === 204 ? undefined : await answer.json()) as T, rev: rev || undefined };
    }
    down.value ??= new Date();
    if (!patient && attempt === 3) throw answer ? await refusal(answer) : new ApiError(0, "unreachable", "The service is not reachable. What you typed is still here: try again.");
    await nextTurn();
    asked.signal?.throwIfAborted();
  }
}

async function refusal(answer: Response): Promise<ApiError> {
  const said = (await answer.json().catch(() => ({}))) as Partial<Schema["Problem"]>;
  return new ApiError(answer.status, said.code ?? `http_${answer.status}`, said.detail ?? said.title ?? `HTTP ${answer.status}`, said.errors, said.request_id);
}

const written = (asked: Written) => ({ key: crypto.randomUUID(), ...asked });

export const api = {
  get: async <T>(path: string, asked: Asked = {}) => (await call<T>("GET", path, undefined, asked)).value,
  /** With the rev of its ETag, for `ifMatch` of a write. */
  getRev: <T>(path: string, asked: Asked = {}) => call<T>("GET", path, undefined, asked),
  /** What asks and changes nothing by POST (a recall, a compile, a dry run) takes no key. */
  ask: async <T>(path: string, body: unknown, asked: Asked = {}) => (await call<T>("POST", path, body, asked)).value,
  post: async <T>(path: string, body: unknown, asked: Written = {}) => (await call<T>("POST", path, body, written(asked))).value,
  put: async <T>(path: string, body: unknown, asked: Written = {}) => (await call<T>("PUT", path, body, written(asked))).value,
  patch: async <T>(path: string, body: unknown, asked: Written = {}) => (await call<T>("PATCH", path, body, written(asked))).value,
  delete: async <T>(path: string, asked: Written = {}) => (await call<T>("DELETE", path, undefined, written(asked))).value,
};

/** The path of a user's call: ours`/memories/${id}`, with every id encoded. */
export const ours = (parts: TemplateStringsArray, ...ids: string[]) =>
  `/users/${encodeURIComponent(user.value)}${parts.map((part, at) => part + (at < ids.length ? encodeURIComponent(ids[at] ?? "") : "")).join("")}`;

export const isConflict = (error: unknown): error is ApiError => error instanceof ApiError && (error.status === 409 || error.status === 412);
