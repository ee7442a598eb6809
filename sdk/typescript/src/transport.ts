import { classOf, NeveAuth, NeveConnection, NeveError, NeveProtocol, wrong, type FieldError } from "./errors.js";
import { spanned } from "./tracing.js";

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export interface Request {
  method: string;
  /** Below `/v1`, percent-encoded. */
  path: string;
  query?: Record<string, unknown> | undefined;
  /** An object is sent as JSON, a text as `contentType`. */
  body?: unknown;
  contentType?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** Ends the call, its repeats included. */
  timeoutMs: number;
  /** Memory operations are told to OpenTelemetry under this name, where it is there. */
  span?: string | undefined;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON, or the text of an answer that is none. */
  body: any;
}

const FIRST_PAUSE_MS = 100;
const TRIES = 3;

export const sleep = (ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, ms));

/** Waits for `work`, at most so long. It goes on by itself. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([work, new Promise((over) => (timer = setTimeout(over, ms)))]);
  clearTimeout(timer);
}

/** Sends requests and repeats those that may succeed later, with the same `Idempotency-Key`, within one budget. */
export class Transport {
  #base: string;
  #key: string;
  #fetch: Fetch;
  closed = false;

  constructor(base: string, key: string, fetch: Fetch) {
    this.#base = base.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#key = key;
    this.#fetch = fetch;
  }

  /** @throws NeveError for everything but an answer of Neve below 400. */
  async send(request: Request): Promise<Answer> {
    if (this.closed) throw new NeveConnection("closed", "This client was closed: make another one.");
    if (!this.#key) throw new NeveAuth("no_key", "There is no API key: pass apiKey, or set NEVE_KEY.");
    if (!/^https?:\/\/[^/\s]+/.test(this.#base)) throw wrong("bad_base_url", "baseUrl", `is "${this.#base}": set it, or NEVE_URL, to an address such as http://127.0.0.1:8787`);
    return request.span ? spanned(request.span, () => this.#repeated(request)) : this.#repeated(request);
  }

  async #repeated(request: Request): Promise<Answer> {
    const until = Date.now() + request.timeoutMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(request, Math.max(until - Date.now(), 1));
      } catch (error) {
        const pause = (error as NeveError).retryAfter ?? (FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2)) / 1000;
        const again = error instanceof NeveError && error.retryable && attempt < TRIES;
        if (!again || Date.now() + pause * 1000 >= until) throw error;
        await sleep(pause * 1000);
      }
    }
  }

  async #once(request: Request, ms: number): Promise<Answer> {
    const { body } = request;
    const json = body !== undefined && typeof body !== "string";
    try {
      const answer = await this.#fetch(this.#address(request), {
        method: request.method,
        headers: {
          Authorization: `Bearer ${this.#key}`,
          ...(body === undefined ? {} : { "Content-Type": json ? "application/json" : (request.contentType ?? "text/markdown") }),
          ...request.headers,
        },
        redirect: "manual", // the key is for this address alone
        signal: AbortSignal.timeout(ms),
        ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : (body as string) }),
      });
      return this.#understood(answer, await answer.text());
    } catch (error) {
      if (error instanceof NeveError) throw error;
      const late = (error as Error).name === "TimeoutError";
      const message = late ? `did not answer within ${request.timeoutMs} ms; \`timeouts\` gives a call more` : "cannot be reached: is the service running? Else set it, or NEVE_URL";
      throw new NeveConnection(late ? "timeout" : "unreachable", `baseUrl ${this.#base} ${message}.`, { cause: error });
    }
  }

  #address({ path, query }: Request): string {
    const sent = new URLSearchParams(Object.entries(query ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));
    return `${this.#base}/v1${path}${sent.size ? `?${sent}` : ""}`;
  }

  #understood(answer: Response, text: string): Answer {
    const { status, headers } = answer;
    const type = headers.get("content-type") ?? "";
    let body: any = text;
    if (/\bjson\b/.test(type)) {
      try {
        body = JSON.parse(text);
      } catch {
        body = undefined;
      }
    }
    if (status >= 400) {
      const known = typeof body?.code === "string";
      if (!known && status < 500 && status !== 429) throw this.notNeve(status);
      throw new (classOf(status))(known ? body.code : `http_${status}`, told(body, status, this.#base), {
        status,
        ...(body?.errors && { errors: body.errors }),
        requestId: body?.request_id ?? headers.get("x-request-id") ?? undefined,
        retryAfter: seconds(headers.get("retry-after")),
      });
    }
    const ours = status === 304 || status === 204 || (headers.has("x-request-id") && (typeof body === "object" ? body : /^text\/plain|jsonl/.test(type)));
    if (!ours) throw this.notNeve(status);
    return { status, headers, body };
  }

  /** What answers there is no Neve, or something that stands before it. */
  notNeve(status?: number): NeveProtocol {
    return new NeveProtocol("not_neve", `baseUrl ${this.#base} answers (${status ?? 200}), but not as Neve does: set it, or NEVE_URL.`, { status });
  }
}

function told(body: any, status: number, base: string): string {
  const said: string = body?.detail ?? body?.title ?? `The service answered ${status}.`;
  const fields = ((body?.errors ?? []) as FieldError[]).filter(({ message }) => !said.includes(message)).map(({ field, message }) => ` ${field}: ${message}.`);
  const cure = status === 401 ? " Check apiKey, or NEVE_KEY." : body?.code === "route_not_found" ? ` Is baseUrl ${base} right, and the service as new as this package?` : "";
  return said + fields.join("") + cure;
}

function seconds(header: string | null): number | undefined {
  const value = Number(header ?? NaN);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
