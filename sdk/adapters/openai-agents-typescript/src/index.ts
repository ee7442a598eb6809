import type { Neve, NeveError } from "@neve/sdk";
import type { AgentInputItem, CallModelInputFilterArgs, ModelInputData, Session } from "@openai/agents";
import { bytesOf, entriesOf, eventsOf, isWhole, newest, type Entry, type Event, type Note } from "./items.js";

export interface NeveSessionOptions {
  /** Throw when memory fails, too. */
  strict?: boolean;
  /** How long a call waits for Neve, at most. Default: 2 s. */
  timeoutMs?: number;
  /** Told of each failure that is not thrown. Default: `console.warn`, once for each code. */
  onError?: (error: NeveError) => void;
}

/** An atomic change of the history, as the framework asks for it. */
export interface HistoryTransaction {
  operationId: string;
  transaction: { type: "append_items"; items: AgentInputItem[] } | { type: "replace_suffix"; expectedSuffix: AgentInputItem[]; replacement: AgentInputItem[] };
}

/** Items that are still to be appended, in order. `key` is of the whole. */
interface Batch {
  key: string;
  items: AgentInputItem[];
  note?: Omit<Note, "id">;
  unread?: boolean;
  inParts?: boolean;
}

/** Of one append: docs/rules/sessions.md#log and docs/rules/http.md#limits. */
const [CALL_EVENTS, CALL_BYTES] = [48, 900_000];
const PAGE = 200;
/** Events that are read beside a limit: results without their calls, events that are no items (chosen). */
const MORE = 20;
/** Items that are kept in memory while Neve is down. */
const BOUND = 1_000;
/** Until a failed append is tried again by itself. */
const PAUSE_MS = 5_000;
/** Within which pops are collected into one retraction. */
const POPS_MS = 100;

/** The session of the OpenAI Agents SDK on a conversation of Neve: `run(agent, "Hello", { session: new NeveSession(neve, "ada", "s1") })`.
 *
 * Items come back whole. Unless `strict`, no call but `clearSession` and a replacement of the end throws because Neve is down: what
 * cannot be appended is kept, and appended later once, and `degraded` says so. Use one object for a conversation. */
export class NeveSession implements Session {
  /** Codes of what went wrong in the last call; empty when all is well. */
  degraded: string[] = [];
  #neve: Neve;
  #options: Required<NeveSessionOptions>;
  #order: Promise<unknown> = Promise.resolve();
  #waiting: Batch[] = [];
  /** What was last read, for as long as Neve is down, with what was appended since. */
  #known: Entry[] = [];
  /** The end of the log, while items are popped one after the other. */
  #tail: Entry[] | undefined;
  #popped: number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #rests = 0;
  #turn: { key: string; recalled: Promise<string> } | undefined;
  #pack = "";

  constructor(neve: Neve, readonly userId: string, readonly sessionId: string = crypto.randomUUID(), options: NeveSessionOptions = {}) {
    const told = new Set<string>();
    const warned = ({ code, message }: NeveError): void => {
      if (!told.has(code)) console.warn(`neve: ${message} (${code})`);
      told.add(code);
    };
    this.#neve = neve;
    this.#options = { strict: false, timeoutMs: 2_000, onError: warned, ...options };
  }

  /** Items that are in memory alone. */
  get kept(): number {
    return this.#waiting.reduce((sum, { items }) => sum + items.length, 0);
  }

  async getSessionId(): Promise<string> {
    return this.sessionId;
  }

  /** The items, oldest first: of a `limit` the last so many, and what would be cut from them. */
  getItems(limit?: number): Promise<AgentInputItem[]> {
    return this.#inOrder(async () => {
      if (limit !== undefined && limit <= 0) return [];
      await this.#attempt(async () => {
        await this.#settle();
        this.#known = await this.#read(limit);
      });
      return newest(itemsOf(this.#known, this.#waiting), limit);
    });
  }

  addItems(items: AgentInputItem[]): Promise<void> {
    return this.#inOrder(() => this.#add({ key: crypto.randomUUID(), items: this.#own(items) }));
  }

  /** Takes the last item back. Several in a row are one retraction. */
  popItem(): Promise<AgentInputItem | undefined> {
    return this.#inOrder(async () => {
      await this.#attempt(async () => {
        if (this.#waiting.length) await this.#settle();
        if (!this.#tail?.length) {
          await this.#settle();
          this.#known = this.#tail = (await this.#read(PAGE - MORE)).filter(({ item }) => item);
        }
      });
      const batch = this.#waiting.at(-1);
      const item = batch?.items.pop();
      if (!batch?.items.length) this.#waiting.pop();
      if (item) return item;
      const entry = (this.#tail ?? this.#known).pop();
      this.#popped.push(...(entry?.seqs ?? []));
      if (entry) this.#later(POPS_MS);
      return entry?.item;
    });
  }

  /** Erases the conversation, and what was remembered of it, for good. @throws NeveError */
  clearSession(): Promise<void> {
    return this.#inOrder(async () => {
      this.#waiting = [];
      this.#popped = [];
      const [last] = (await this.#page({ limit: 1, order: "desc" })).events;
      this.#known = [];
      this.#tail = undefined;
      if (last) await this.#retract([1, last.seq], "deleted");
    });
  }

  /** Puts a compaction, and what it leaves, in the place of all items. What is remembered of them stays. */
  replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    return this.#inOrder(async () => {
      await this.#settle();
      const [last] = (await this.#page({ limit: 1, order: "desc" })).events;
      await this.#append({ key: crypto.randomUUID(), items, note: { op: "compaction", ...(last && { replaces: [1, last.seq] }) }, unread: true });
    });
  }

  /** Changes the history once, however often it is asked to under the same id. @throws Error for another change under a known id, or
   * where the end is not what it is said to be; NeveError where a replacement cannot be made. */
  applyHistoryTransaction({ operationId, transaction }: HistoryTransaction): Promise<void> {
    return this.#inOrder(async () => {
      if (typeof operationId !== "string" || !operationId.trim()) throw new Error("operationId must be a text that is not blank.");
      if (transaction?.type !== "append_items" && transaction?.type !== "replace_suffix") throw new Error('transaction.type must be "append_items" or "replace_suffix".');
      const [key, op] = await Promise.all([digest(operationId), digest(sorted(transaction))]);
      if (transaction.type === "append_items") return this.#add({ key, items: this.#own(transaction.items), note: { op } });
      await this.#settle();
      const events = await this.#events(); // a note may have been taken back with what was popped around it
      const done = entriesOf(events).find(({ note }) => note?.id === `${key}-note`)?.note;
      if (done && done.op !== op) throw new Error(ANOTHER);
      const shown = entriesOf(events.filter(({ retracted }) => !retracted)).filter(({ item }) => item);
      const expected = this.#own(transaction.expectedSuffix);
      const suffix = expected.length ? shown.slice(-expected.length) : [];
      if (!done && sorted(suffix.map(({ item }) => item)) !== sorted(expected)) throw new Error("The end of the history is not what the transaction expects.");
      const seqs = suffix.flatMap((entry) => entry.seqs);
      const replaces = done ? done.replaces : seqs.length ? ([Math.min(...seqs), Math.max(...seqs)] as [number, number]) : undefined;
      if (!done) await this.#append({ key, items: this.#own(transaction.replacement), note: { op, ...(replaces && { replaces }) } });
      if (replaces) await this.#retract(replaces, "edited");
    });
  }

  /** A `callModelInputFilter`: what is always worth knowing of the user stands behind the agent's instructions, and what bears on the
   * message in front of it; the same bytes in every step of a turn. Nothing of it is stored. */
  readonly memory = async ({ modelData }: CallModelInputFilterArgs<any>): Promise<ModelInputData> => {
    const { input, instructions } = modelData;
    const at = input.findLastIndex((item: any) => item.role === "user");
    if (at < 0) return modelData;
    const question: any = input[at];
    const key = JSON.stringify(input.slice(0, at + 1));
    if (this.#turn?.key !== key) this.#turn = { key, recalled: this.#recalled(question) };
    const text = await this.#turn.recalled;
    const content = typeof question.content === "string" ? [{ type: "input_text", text: question.content }] : question.content;
    const asked = text ? { ...question, content: [{ type: "input_text", text }, ...content] } : question;
    return { input: [...input.slice(0, at), asked, ...input.slice(at + 1)], ...both(instructions, this.#pack) };
  };

  /** Appends and takes back what waits, now. */
  flush(): Promise<void> {
    return this.#inOrder(() => this.#attempt(() => this.#settle()));
  }

  // --- memory --------------------------------------------------------------------------------

  async #recalled({ content }: any): Promise<string> {
    const said = typeof content === "string" ? content : content.flatMap(({ text }: any) => text ?? []).join("\n");
    const session = this.#neve.user(this.userId).session(this.sessionId);
    const { request, stale, degraded } = await session.context(said.trim() || undefined, { format: "ai_sdk", images: "none", maxBreakpoints: 0, timeoutMs: this.#options.timeoutMs });
    this.degraded = [...new Set([...this.degraded, ...degraded])];
    if (stale) return "";
    this.#pack = request.instructions ?? "";
    const last = request.messages.findLast(({ role }) => role === "user")?.content;
    // Neve escapes its own tags in what users say.
    return (Array.isArray(last) ? last : []).flatMap(({ text }: any) => (text?.startsWith("<neve-") ? [text] : [])).join("\n");
  }

  /* The framework stores what a filter has made of a message. */
  #own(items: AgentInputItem[]): AgentInputItem[] {
    return items.map((item: any) => {
      const [first, ...rest] = Array.isArray(item.content) ? item.content : [];
      if (item.role !== "user" || !first?.text?.startsWith?.("<neve-") || !this.#turn || !rest.length) return item;
      const asked = JSON.parse(this.#turn.key).findLast(({ role }: any) => role === "user").content;
      return { ...item, content: typeof asked === "string" && rest.length === 1 && rest[0].text === asked ? asked : rest };
    });
  }

  // --- the log -------------------------------------------------------------------------------

  async #add(batch: Batch): Promise<void> {
    if (!batch.items.length && !batch.note) return;
    const full = this.kept + batch.items.length > BOUND;
    if (!full) this.#waiting.push(batch);
    await this.#attempt(() => this.#settle());
    if (full) this.#failed(Object.assign(new Error(`${BOUND} items wait for Neve, which cannot be reached: these are not kept.`), { code: "buffer_full" }) as NeveError);
  }

  /** Runs `work` unless Neve failed so lately that nobody should wait for it again. What fails is told, and tried again later. */
  async #attempt(work: () => Promise<unknown>): Promise<void> {
    if (Date.now() < this.#rests) return;
    this.degraded = [];
    try {
      await work();
    } catch (error) {
      this.#failed(error as NeveError);
      if (!(error as NeveError).retryable) return;
      this.#rests = Date.now() + PAUSE_MS;
      this.#later(PAUSE_MS);
    }
  }

  #failed(error: NeveError): void {
    if (typeof error.code !== "string" || this.#options.strict) throw error;
    this.degraded = [error.code];
    this.#options.onError(error);
  }

  async #settle(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#popped.length) await this.#retract([Math.min(...this.#popped), Math.max(...this.#popped)], "edited");
    this.#popped = [];
    this.#tail = undefined;
    for (let batch; (batch = this.#waiting[0]); ) {
      try {
        await this.#append(batch);
      } catch (error) {
        const { status = 0, code } = error as NeveError;
        if (status === 422 && code !== "idempotency_mismatch" && !batch.inParts) {
          batch.inParts = true; // what the service cannot take as it is it takes as text
          continue;
        }
        if ([400, 410, 413, 422].includes(status) || code === "client_id_conflict") this.#waiting.shift(); // it never will be appended
        throw /^(client_id_conflict|idempotency_mismatch)$/.test(code) ? new Error(ANOTHER) : error;
      }
      this.#waiting.shift();
    }
  }

  async #append({ key, items, note, unread = false, inParts = false }: Batch): Promise<void> {
    const events = items.flatMap((item, n) => eventsOf(item, `${key}-${n}`, { unread, inParts }));
    if (note) events.unshift({ event_type: "neutral", client_id: `${key}-note`, event_data: { ...note } });
    for (const [n, call] of parted(events).entries()) {
      const send = (): Promise<{ seqs: number[] }> => this.#neve.raw.appendEvents(this.userId, this.sessionId, { events: call } as any, { idempotencyKey: `${key}.${n}`, timeoutMs: this.#options.timeoutMs, span: "upsert_memory" });
      const { seqs } = await send().catch(async (error) => {
        if (error.code !== "session_not_found") throw error;
        await this.#neve.raw.openSession(this.userId, { session_id: this.sessionId });
        return send();
      });
      this.#known.push(...entriesOf(call.map((event, at) => ({ ...event, seq: seqs[at] }))));
    }
  }

  /** The newest items: all, or so many that `newest` finds its own among them. */
  async #read(limit?: number): Promise<Entry[]> {
    return entriesOf(await this.#events({ retracted: false }, limit));
  }

  async #events(query: object = {}, limit?: number): Promise<any[]> {
    const events: any[] = [];
    for (let from: number | undefined; ; ) {
      const page = await this.#page({ ...query, order: "desc", limit: limit === undefined ? PAGE : Math.min(limit + MORE, PAGE), ...(from && { from_seq: from }) });
      events.unshift(...page.events.reverse());
      if (!(from = page.next_from_seq) || (limit !== undefined && isWhole(itemsOf(entriesOf(events), []), limit))) return events;
    }
  }

  async #page(query: object): Promise<{ events: any[]; next_from_seq?: number }> {
    try {
      return await this.#neve.raw.listEvents(this.userId, this.sessionId, query as any, { timeoutMs: this.#options.timeoutMs, span: "search_memory" });
    } catch (error) {
      if ((error as NeveError).code === "session_not_found") return { events: [] };
      throw error;
    }
  }

  async #retract([from_seq, to_seq]: [number, number], reason: "edited" | "deleted"): Promise<void> {
    await this.#neve.raw.retractEvents(this.userId, this.sessionId, { from_seq, to_seq, reason }, { timeoutMs: this.#options.timeoutMs, span: "delete_memory" });
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush().catch(() => undefined), ms);
    if (ms === PAUSE_MS) (this.#timer as { unref?: () => void }).unref?.(); // what cannot be sent must not keep a process alive
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#order.then(work);
    this.#order = mine.catch(() => undefined);
    return mine;
  }
}

const ANOTHER = "The operation was applied already, with another transaction.";

function itemsOf(entries: Entry[], waiting: Batch[]): AgentInputItem[] {
  return [...entries.flatMap(({ item }) => (item ? [item] : [])), ...waiting.flatMap(({ items }) => items)].map((item) => structuredClone(item));
}

function both(instructions: string | undefined, pack: string): { instructions?: string } {
  const text = [instructions, pack].filter(Boolean).join("\n\n");
  return text ? { instructions: text } : {};
}

/** In calls that the service takes. */
function parted(events: Event[]): Event[][] {
  const calls: Event[][] = [];
  let bytes = 0;
  for (const event of events) {
    const more = bytesOf(event);
    if (!calls.length || calls.at(-1)!.length === CALL_EVENTS || bytes + more > CALL_BYTES) {
      calls.push([]);
      bytes = 0;
    }
    calls.at(-1)!.push(event);
    bytes += more;
  }
  return calls;
}

/** As JSON, whatever the order of its members. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, one) => (one && typeof one === "object" && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one));
}

async function digest(text: string): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum, 0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
