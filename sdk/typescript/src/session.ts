import { NeveBadRequest, NeveBufferFull, NeveNotFound, NeveTooLarge, wrong, type NeveError } from "./errors.js";
import { isAnswer, isUsers, kept, messagesOf, printOf, type Kept, type Message, type Said } from "./messages.js";
import type { Core } from "./neve.js";
import { Outbox, type Deed, type Fate } from "./outbox.js";
import { baseOf, offline, promptOf, withoutMessages, type Base, type Format, type Prompt, type Requests } from "./prompt.js";
import type { Answer } from "./transport.js";
import type { Tokens } from "./usage.js";
import { snake, type Camel, type Schemas } from "./wire.js";

export interface CallOptions {
  /** In place of the budget that `timeouts` gives this call. */
  timeoutMs?: number | undefined;
}

/** Used when the session is new. */
export interface Opening {
  title?: string;
  userMeta?: Schemas["UserMeta"];
  metadata?: Record<string, string>;
  /** Who speaks in it; a message names one in its `participant`. */
  participants?: Schemas["ParticipantBody"][];
  room?: boolean;
}

/** How many messages a call has settled, and how many wait. */
export interface Appended {
  appended: number;
  /** They were there already. */
  known: number;
  /** The service has no place for them. */
  dropped: number;
  /** They never will be appended. */
  refused: number;
  /** Of this session, in memory alone: to be appended later. A process that is killed loses them. */
  kept: number;
  degraded: string[];
  /** What became of each message that was passed, with its id. */
  messages: Fate[];
}

export interface Pack {
  /** The text to put in front of a conversation: the same bytes until the pack is rebuilt. */
  text: string;
  etag?: string;
  version?: number;
  /** The last that was read, because Neve could not be asked or has nothing better. */
  stale: boolean;
  degraded: string[];
}

export type Hit = Schemas["HitView"];

/** What was recalled: a list, with the text to put into a prompt. */
export interface Hits extends Array<Hit> {
  text: string;
  degraded: string[];
  /** The whole answer; absent where there was none. */
  raw?: Schemas["RecallView"];
}

export interface Usage extends Tokens {
  /** The share of the prompt that was read from the cache. */
  hitRate: number;
  degraded: string[];
  /** Neve's answer; absent where it could not be told. */
  raw?: Schemas["ReportedUsageOut"];
}

export type RecallOptions = CallOptions & Camel<Omit<Schemas["RecallBody"], "query" | "session_id">>;

export type ContextOptions<F extends Format> = CallOptions & Camel<Omit<Schemas["CompileBody"], "session_id" | "message" | "format">> & { format?: F };

/** A message, its id, or its seq. */
export type Which = Message | string | number;

/** Of an event, docs/rules/http.md#limits, with room for the id. */
const MOST_BYTES = 256 * 1024 + 64;
/** Of messages that are appended, for a prompt while Neve is down. */
const REMEMBERED_BYTES = 1_000_000;

/** One conversation. Nothing is asked of the service until a method needs it.
 *
 * Unless the client is `strict`, no method throws because Neve is down, slow or refuses: `degraded` has the code. */
export class Session {
  #path: string;
  #core: Core;
  #outbox: Outbox;
  /** What this process knows of the conversation, in order. */
  #log: Kept[] = [];
  #counts = new Map<string, number>();
  /** Whether this process knows the conversation from its beginning on; undefined as long as the service has said nothing. */
  #begun: boolean | undefined;
  #order: Promise<unknown> = Promise.resolve();
  #linger: ReturnType<typeof setTimeout> | undefined;
  #base: Base | undefined;
  /** How much of the log the base holds. */
  #held = 0;
  #promptId: string | undefined;
  #pack: Pack | undefined;

  /** @internal */
  constructor(
    readonly userId: string,
    readonly id: string,
    core: Core,
    readonly opening: Opening,
  ) {
    this.#core = core;
    this.#path = `/sessions/${encodeURIComponent(id)}`;
    this.#outbox = new Outbox(core.room, async (batch, key, ms) => {
      const { body } = await this.#post(`${this.#path}/messages`, this.#carried(batch), ms, "upsert_memory", key);
      return this.#heard(body, body);
    });
  }

  /** Messages that are in memory alone. */
  get kept(): number {
    return this.#outbox.messages().length;
  }

  /** Keeps what was said: one message that is new, or a list of what is new or of the whole chat so far. What the model said waits
   * for the next message for a while (`lingerMs`), so that both go in one call; what cannot be sent now is sent later, once.
   * @throws NeveBadRequest for what is no message; with `strict` whatever keeps a message from being appended. */
  append(said: Said, options: CallOptions = {}): Promise<Appended> {
    return this.#settled(async () => {
      const lines = await this.#enter(said);
      const last = lines.findLast(({ fate }) => !fate);
      if (last && this.#core.lingerMs && isAnswer(last.message)) this.#linger ??= setTimeout(() => void this.flush().catch(() => undefined), this.#core.lingerMs);
      else if (last && !this.#outbox.resting) await this.#sent(options.timeoutMs);
      return lines;
    });
  }

  /** Sends what is kept, now. */
  flush(options: CallOptions = {}): Promise<Appended> {
    return this.#settled(async () => {
      await this.#order;
      const lines = this.#outbox.messages();
      await this.#sent(options.timeoutMs ?? this.#core.timeouts.flush);
      return lines;
    });
  }

  /** The session's pack. It is asked for with its ETag; while Neve is down it is the last one, marked `stale`. */
  async pack(options: CallOptions = {}): Promise<Pack> {
    const before = this.#pack;
    try {
      const { status, headers, body } = await this.#opened(() =>
        this.#core.transport.send({
          method: "GET",
          path: this.#whole("/pack"),
          query: { session_id: this.id, format: "json" },
          headers: before?.etag ? { "If-None-Match": before.etag } : {},
          timeoutMs: options.timeoutMs ?? this.#core.timeouts.pack,
          span: "search_memory",
        }),
      );
      const degraded = (headers.get("x-neve-degraded") ?? "").split(/[ ,]+/).filter(Boolean);
      if (status === 304 && before) return { ...before, degraded };
      if (!body?.state) throw this.#core.transport.notNeve(status);
      if (body.text === undefined) return { text: "", ...before, stale: true, degraded };
      const etag = headers.get("etag");
      const pack: Pack = { text: body.text, ...(etag && { etag }), ...(body.pack_version && { version: body.pack_version }), stale: false, degraded };
      if (etag) this.#pack = pack;
      return pack;
    } catch (error) {
      return { text: "", ...before, stale: true, degraded: this.#core.caught(error) };
    }
  }

  /** What the user's memory holds about `query`, by default for a prompt (`mode: "tool"` searches whatever it is asked). */
  async recall(query: string, { timeoutMs = this.#core.timeouts.recall, ...options }: RecallOptions = {}): Promise<Hits> {
    try {
      const ask = (more: object): Promise<Answer> => this.#post("/recall", { query, ...more, ...snake(options) }, timeoutMs, "search_memory");
      const { body } = await ask({ session_id: this.id }).catch((error) => (isNew(error) ? ask({}) : Promise.reject(error)));
      if (!Array.isArray(body?.hits)) throw this.#core.transport.notNeve();
      return Object.assign(body.hits, { text: body.injection_text, degraded: body.degraded, raw: body });
    } catch (error) {
      return Object.assign([], { text: "", degraded: this.#core.caught(error) });
    }
  }

  /** The whole prompt of a turn: history, pack and what is recalled about `message`, which is not appended. Without `message` the
   * log has to end with what is to be answered. */
  async context<F extends Format = "anthropic">(message?: string | Message, options: ContextOptions<F> = {}): Promise<Prompt<F>> {
    const asked = message === undefined ? undefined : messagesOf(message)[0];
    await this.#order;
    return this.#compiled(asked, options);
  }

  /** Appends what was said, with the answer that waits, and compiles the next prompt, in one call. */
  async turn<F extends Format = "anthropic">(said: Said, options: ContextOptions<F> = {}): Promise<Prompt<F>> {
    await this.#enter(said);
    return this.#compiled(undefined, options);
  }

  /** Counts what the provider's cache did for the last prompt. `response` is the provider's answer, or its usage object. */
  async usage(response: any, options: CallOptions & { promptId?: string; model?: string } = {}): Promise<Usage> {
    const usage = response.usage ?? response.usageMetadata ?? response.totalUsage ?? response;
    const tokens = (await import("./more.js")).tokensOf(usage);
    const all = tokens.input + tokens.cacheRead + tokens.cacheWrite;
    const counted = { ...tokens, hitRate: all && tokens.cacheRead / all };
    const prompt_id = options.promptId ?? this.#promptId;
    if (!prompt_id) return { ...counted, degraded: ["no_prompt"] };
    const model = options.model ?? response.model ?? response.modelVersion ?? response.response?.modelId;
    const sent = "input_tokens" in usage || "prompt_tokens" in usage ? usage : snake(tokens);
    try {
      const { body } = await this.#post("/usage", { prompt_id, model, usage: sent }, options.timeoutMs ?? this.#core.timeouts.usage, "", crypto.randomUUID());
      return { ...counted, degraded: [], raw: body };
    } catch (error) {
      return { ...counted, degraded: this.#core.caught(error) };
    }
  }

  /** The user changed a message: it and all behind it is taken back, and the new one said instead. */
  async edit(which: Which, said: Said): Promise<Appended> {
    messagesOf(said); // what is no message takes nothing back
    return this.#settled(async () => {
      let failed: unknown;
      await this.#takeBack(which, "edited", false).catch((error) => this.#core.caught((failed = error)));
      const lines = await this.#enter(said);
      await this.#sent();
      if (failed) throw failed;
      return lines;
    });
  }

  /** Another answer to the user's last message: what was answered is taken back. */
  regenerate(): Promise<Appended> {
    return this.#settled(() => this.#takeBack(undefined, "edited", true));
  }

  /** Goes on from an earlier message: what stands behind it is taken back. */
  branch(which: Which): Promise<Appended> {
    return this.#settled(() => this.#takeBack(which, "branched", true));
  }

  /** The user stopped an answer: what was shown of it is kept, calls that will have no result and unfinished thoughts are not. */
  async stop(partial: Said): Promise<Appended> {
    const said = messagesOf(typeof partial === "string" ? { role: "assistant", content: partial } : partial).flatMap(({ tool_calls, ...message }) => {
      const content = Array.isArray(message.content) ? message.content.filter(({ type, text }: any) => /text$/.test(type) && text) : message.content;
      return content?.length ? [{ ...message, content }] : [];
    });
    return this.#settled(async () => {
      const lines = await this.#enter(said);
      await this.#sent();
      return lines;
    });
  }

  /** Takes back all that was said, title and metadata too; what is kept is thrown away. @throws NeveError: a deletion is not kept for later. */
  async delete(): Promise<void> {
    await this.#order;
    this.drop();
    await this.#core.raw.deleteSession(this.userId, this.id, { span: "delete_memory" });
  }

  /** The conversation is over: what is kept is sent, then the session is ended. */
  async end(options: { outcome?: "SUCCESS" | "PARTIAL" | "INTERRUPTED" } = {}): Promise<Appended> {
    await this.#order;
    const key = crypto.randomUUID();
    return this.#settled(() => this.#done({ act: (timeoutMs) => this.#core.raw.endSession(this.userId, this.id, options, { timeoutMs, idempotencyKey: key }) }));
  }

  /** Throws away what is kept, and what this process knows of the conversation. */
  drop(): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    this.#outbox.remove([...this.#outbox.entries]);
    this.#log = [];
    this.#counts.clear();
    this.#begun = false; // what was deleted keeps its names
    this.#base = this.#pack = this.#promptId = undefined;
  }

  // --- what was said, in order ---------------------------------------------------------------

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#order.then(work);
    this.#order = mine.catch(() => undefined);
    return mine;
  }

  #enter(said: Said): Promise<Kept[]> {
    const messages = messagesOf(said);
    return this.#inOrder(async () => {
      const prints = await Promise.all(messages.map((message) => message.id ?? printOf(message)));
      const list = Array.isArray(said);
      const whole = list && this.#log.every(({ print }, at) => print === prints[at]) ? [...this.#log] : [];
      return messages.map((message, at) => (whole[at] ? again(whole[at]) : this.#line(message, prints[at]!, list, at)));
    });
  }

  /** A message is named by what it says and how often that was said before, so that the whole chat may come again, also from a
   * later process. What comes alone to a process that does not know the beginning has a name of its own. */
  #line(message: Message, print: string, listed: boolean, at: number): Kept {
    const before = this.#counts.get(print) ?? 0;
    this.#counts.set(print, before + 1);
    const own = listed || this.#begun !== false ? print + (before ? `.${before}` : "") : crypto.randomUUID();
    const line = kept(message.id ?? own, message, print, !listed && !message.id);
    const { room } = this.#core;
    let error: NeveError | undefined;
    if (typeof message.content === "string" && line.bytes > MOST_BYTES) error = wrong("event_too_large", `messages.${at}`, "is larger than 256 KiB as JSON: part it", NeveTooLarge);
    else if (!this.#outbox.put(line)) error = new NeveBufferFull("buffer_full", `messages.${at} is not kept: ${room.most} events are, as \`bound\` says.`);
    if (error) this.#outbox.decide(line, { id: line.id, state: "refused", error });
    else this.#log.push(line);
    this.#log.reduceRight((size, { bytes, fate }, at) => {
      if (fate && size > REMEMBERED_BYTES) this.#log[at] = { ...this.#log[at]!, message: {}, bytes: 0 };
      return size + bytes;
    }, 0);
    return line;
  }

  async #sent(timeoutMs = this.#core.timeouts.append): Promise<void> {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    await this.#outbox.flush(timeoutMs);
  }

  async #done(deed: Deed): Promise<Kept[]> {
    const lines = this.#outbox.messages();
    this.#outbox.put(deed);
    await this.#sent();
    if (deed.error) throw deed.error;
    return lines;
  }

  /** Runs `work`, and says what came of it and of what waited before it. */
  async #settled(work: () => Promise<Kept[]>): Promise<Appended> {
    const decided: Fate[] = [];
    this.#outbox.watching.add(decided);
    let error: NeveError | undefined;
    let lines: Kept[] = [];
    try {
      lines = await work();
    } catch (thrown) {
      if ((thrown as NeveError).code === "unknown_message") throw thrown;
      this.#core.caught((error = thrown as NeveError));
    } finally {
      this.#outbox.watching.delete(decided);
    }
    const all = new Set([...decided, ...lines.flatMap(({ fate }) => fate ?? [])]);
    const count = (state: string): number => [...all].filter((fate) => fate.state === state).length;
    const waits = lines.some(({ fate }) => !fate);
    const errors = [error, ...decided.map((fate) => fate.error), waits ? this.#outbox.failure : undefined].filter((found) => found !== undefined);
    const degraded = [...new Set(errors.flatMap((found) => this.#core.caught(found)))];
    const messages = lines.map(({ id, fate }): Fate => fate ?? { id, state: "kept" });
    return { appended: count("appended"), known: count("known"), dropped: count("dropped"), refused: count("refused"), kept: this.kept, degraded, messages };
  }

  // --- prompts -------------------------------------------------------------------------------

  async #compiled<F extends Format>(message: Message | undefined, options: ContextOptions<F>): Promise<Prompt<F>> {
    const { timeoutMs = this.#core.timeouts.context, format = "anthropic" as F, ...rest } = options;
    clearTimeout(this.#linger);
    this.#linger = undefined;
    const said = this.#log.length;
    try {
      const answer = await this.#asked({ format, ...(message && { message: typeof message.content === "string" ? message.content : (await import("./more.js")).blocksOf(message) }), ...snake(rest) }, timeoutMs);
      if (!answer?.request) throw this.#core.transport.notNeve();
      const { request, prompt_id: promptId, tool_names: toolNames, degraded, report } = answer;
      this.#base = baseOf(format, request, message !== undefined);
      this.#held = said;
      this.#promptId = promptId;
      return promptOf<F>(request as Requests[F], { promptId, stale: false, degraded, ...(toolNames && { toolNames }), report });
    } catch (error) {
      this.#promptId = undefined;
      const since = this.#log.slice(this.#base?.format === format ? this.#held : 0);
      if (message && since.at(-1)?.print !== (await printOf(message))) since.push({ message } as Kept);
      const request = offline(format, this.#base, this.#pack?.text ?? "", since.map((line) => line.message), rest as { system?: unknown; tools?: unknown });
      return promptOf<F>(request, { stale: true, degraded: this.#core.caught(error) });
    }
  }

  /** One call where what waits fits in one, else the appends first. */
  async #asked(compile: object, timeoutMs: number): Promise<any> {
    const until = Date.now() + timeoutMs;
    const turn = async (sent: Kept[], key: string, ms: number): Promise<any> => {
      const { body } = await this.#post(`${this.#path}/turn`, { ...this.#carried(sent), compile }, ms, "upsert_memory", key);
      return this.#heard(body, body?.appended);
    };
    for (let batch; (batch = this.#outbox.batch()).length && batch.length === this.#outbox.entries.length; ) {
      try {
        const answer = await this.#outbox.alone((left) => this.#outbox.deliver(batch!, left, turn), until - Date.now());
        if (!this.#outbox.entries.length && answer?.prompt) return answer.prompt;
        if (!answer?.prompt) break;
      } catch (error) {
        if (!(error instanceof NeveBadRequest)) throw error;
        break;
      }
    }
    await this.#outbox.flush(until - Date.now());
    if (this.#outbox.failure) throw this.#outbox.failure;
    return (await this.#opened(() => this.#post("/context", { session_id: this.id, ...compile }, until - Date.now(), "search_memory"))).body;
  }

  // --- taking back ---------------------------------------------------------------------------

  async #takeBack(which: Which | undefined, reason: "edited" | "branched", behind: boolean): Promise<Kept[]> {
    const deed = await this.#inOrder(async () => {
      const name = typeof which === "object" ? (which.id ?? (await printOf(which))) : which;
      const holds = ({ id, print, message, fate }: Kept): boolean => (name === undefined ? isUsers(message) : id === name || print === name || (fate?.seqs?.some((seq) => seq === name) ?? false));
      const at = this.#log.findLastIndex(holds);
      const line = this.#log[at];
      if (!line) {
        this.#outbox.remove(this.#outbox.messages());
        return this.#retraction(name, reason, behind);
      }
      const gone = this.#log.splice(behind ? at + 1 : at);
      if (this.#base && this.#log.length < this.#held) {
        this.#base = withoutMessages(this.#base);
        this.#held = 0;
      }
      this.#outbox.remove(gone);
      const first = gone.find(({ tried, fate }) => tried && fate?.seqs?.length !== 0);
      return first && this.#retraction(first.fate?.seqs ?? first.id, reason, false, !first.fate);
    });
    return deed ? this.#done(deed) : [];
  }

  #retraction(which: number[] | number | string | undefined, reason: "edited" | "branched", behind: boolean, perhaps = false): Deed {
    return {
      act: async (timeoutMs) => {
        const done = await (await import("./more.js")).retract(this.#core.raw, this, which, { reason, behind, timeoutMs });
        if (done === false && !perhaps) throw new NeveNotFound("unknown_id", `There is no message ${which ?? "of the user"}: pass an id that append answered.`);
      },
    };
  }

  // --- calls ---------------------------------------------------------------------------------

  #carried(batch: Kept[]): object {
    return { messages: batch.map(({ message }) => message), ...snake(this.opening) };
  }

  #heard(body: any, appended: any): any {
    if (!Array.isArray(appended?.messages)) throw this.#core.transport.notNeve();
    this.#begun ??= appended.created || (appended.messages as Fate[]).some(({ seqs }) => seqs?.includes(1));
    return body;
  }

  #whole(path: string): string {
    return `/users/${encodeURIComponent(this.userId)}${path}`;
  }

  #post(path: string, body: object, timeoutMs: number, span: string, key?: string): Promise<Answer> {
    return this.#core.transport.send({ method: "POST", path: this.#whole(path), body, timeoutMs, headers: key ? { "Idempotency-Key": key } : {}, span });
  }

  /** Opens the session where it is new, and asks again. */
  async #opened(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      if (!isNew(error)) throw error;
      await this.#core.raw.openSession(this.userId, { session_id: this.id, ...snake(this.opening) });
      return ask();
    }
  }
}

const isNew = (error: unknown): boolean => (error as NeveError).code === "session_not_found";

function again(line: Kept): Kept {
  return line.fate?.state === "appended" ? { ...line, fate: { ...line.fate, state: "known" } } : line;
}
