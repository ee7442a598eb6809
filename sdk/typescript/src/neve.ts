import { NeveError } from "./errors.js";
import type { Room } from "./outbox.js";
import type { Raw } from "./operations.js";
import type { Session } from "./session.js";
import { Transport, type Fetch } from "./transport.js";
import { User } from "./user.js";

/** Milliseconds after which a call of this kind gives up, repeats included. */
export interface Timeouts {
  recall: number;
  pack: number;
  /** `context` and `turn`. */
  context: number;
  append: number;
  usage: number;
  flush: number;
  other: number;
}

export interface NeveOptions {
  /** Default: the environment's NEVE_KEY. */
  apiKey?: string;
  /** Default: the environment's NEVE_URL, else http://127.0.0.1:8787. */
  baseUrl?: string;
  /** Throw in the chat, too, when memory fails. */
  strict?: boolean;
  timeouts?: Partial<Timeouts>;
  /** How long what the model said waits for the next message, at most; 0: not at all. Default: 5 s. */
  lingerMs?: number;
  /** Events that are kept in memory while the service cannot be reached, over all sessions. Default: 1,000. */
  bound?: number;
  /** Told of every failure that a chat call does not throw. Default: `console.warn`, once for each code. */
  onError?: (error: NeveError) => void;
  fetch?: Fetch;
}

/** What users and sessions share. */
export interface Core {
  transport: Transport;
  timeouts: Timeouts;
  lingerMs: number;
  room: Room;
  /** @returns the error's code, in a list; whoever listens is told. @throws it where the client is strict, and what is no failure of a call. */
  caught(error: unknown): string[];
  sessions: Map<string, Session>;
  raw: Raw;
}

const TIMEOUTS: Timeouts = { recall: 1_000, pack: 1_000, context: 2_000, append: 2_000, usage: 1_000, flush: 10_000, other: 30_000 };

/** The memory of a chat product. Making one asks nothing of the service. */
export class Neve {
  /** Every operation of the API, 1:1 by its operationId: `neve.raw.recall("ada", { query: "city" })`. It always throws. */
  readonly raw: Raw;
  #core: Core;

  constructor(options: NeveOptions = {}) {
    const env: Record<string, string | undefined> = (globalThis as any).process?.env ?? {};
    const told = new Set<string>();
    const warned = (error: NeveError): void => {
      if (!told.has(error.code)) console.warn(`neve: ${error.message} (${error.code})`);
      told.add(error.code);
    };
    const { strict = false, lingerMs = 5_000, bound = 1_000, onError = warned } = options;
    const timeouts = { ...TIMEOUTS, ...options.timeouts };
    const transport = new Transport(
      options.baseUrl ?? env.NEVE_URL ?? "http://127.0.0.1:8787",
      (options.apiKey ?? env.NEVE_KEY ?? "").trim(),
      options.fetch ?? ((...call) => fetch(...call)),
    );
    const caught = (error: unknown): string[] => {
      if (strict || !(error instanceof NeveError)) throw error;
      onError(error);
      return [error.code];
    };
    // The table of operations is loaded at the first call.
    this.raw = new Proxy({} as Raw, {
      get: (_, name) => (name === "then" ? undefined : async (...given: unknown[]) => (await import("./more.js")).call(transport, timeouts.other, String(name), given)),
    });
    this.#core = { transport, timeouts, lingerMs, room: { taken: 0, most: bound }, sessions: new Map(), caught, raw: this.raw };
  }

  user(id: string): User {
    return new User(id, this.#core);
  }

  /** Events that are in memory alone, of all sessions. */
  get kept(): number {
    return this.#core.room.taken;
  }

  /** Sends what is kept, within the budget of a flush. @returns how many events could not be sent: they are lost with this process. */
  async close(): Promise<{ kept: number }> {
    await Promise.all([...this.#core.sessions.values()].map((session) => session.flush()));
    this.#core.transport.closed = true;
    return { kept: this.kept };
  }
}
