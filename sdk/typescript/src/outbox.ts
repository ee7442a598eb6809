import { NeveBadRequest, NeveConnection, type NeveError } from "./errors.js";
import type { Kept } from "./messages.js";
import { within } from "./transport.js";

/** Of one call, docs/rules/sessions.md#log and docs/rules/http.md#limits, with room for what stands around the messages. */
const MOST_EVENTS = 48;
const MOST_BYTES = 900_000;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 30_000;

/** What became of one message: `appended`, `known` (it was there), `dropped` (the service has no place for it), `kept` (it will be
 * appended later) or `refused` (it never will be; `error` says why). */
export interface Fate {
  id: string;
  state: "appended" | "known" | "dropped" | "kept" | "refused";
  seqs?: number[];
  error?: NeveError;
}

/** Something else than an append that has to happen behind what was said before it. */
export interface Deed {
  act(timeoutMs: number): Promise<unknown>;
  error?: NeveError;
}

type Entry = Kept | Deed;

const isKept = (entry: Entry): entry is Kept => "id" in entry;

/** How many events may be kept by one client, over all of its sessions. */
export interface Room {
  taken: number;
  most: number;
}

/** What one session has still to tell the service, in order. It is in memory: a process that is killed loses it. */
export class Outbox {
  readonly entries: Entry[] = [];
  /** Whoever wants to know what is decided meanwhile. */
  readonly watching = new Set<Fate[]>();
  /** Why the last attempt failed; cleared by one that succeeds. */
  failure: NeveError | undefined;
  #rests = 0;
  #running: Promise<unknown> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #oneByOne = false;
  #key = ["", ""];
  #room: Room;
  #send: (batch: Kept[], key: string, timeoutMs: number) => Promise<any>;

  constructor(room: Room, send: (batch: Kept[], key: string, timeoutMs: number) => Promise<any>) {
    this.#room = room;
    this.#send = send;
  }

  /** Whether the service failed so lately that nobody should wait for it again. */
  get resting(): boolean {
    return Date.now() < this.#rests;
  }

  messages(): Kept[] {
    return this.entries.filter(isKept);
  }

  /** @returns false where there is no room for it. */
  put(entry: Entry): boolean {
    const events = isKept(entry) ? entry.events : 0;
    if (this.#room.taken + events > this.#room.most) return false;
    this.#room.taken += events;
    this.entries.push(entry);
    return true;
  }

  remove(gone: readonly Entry[]): void {
    for (const entry of gone) {
      const at = this.entries.indexOf(entry);
      if (at >= 0 && isKept(...(this.entries.splice(at, 1) as [Entry]))) this.#room.taken -= (entry as Kept).events;
    }
    this.#oneByOne &&= this.entries.length > 0;
  }

  /** The messages that the next call may carry. */
  batch(): Kept[] {
    const batch: Kept[] = [];
    let events = 0;
    let bytes = 0;
    for (const entry of this.entries) {
      if (!isKept(entry)) break;
      events += entry.events;
      bytes += entry.bytes;
      if (batch.length && (this.#oneByOne || events > MOST_EVENTS || bytes > MOST_BYTES)) break;
      batch.push(entry);
    }
    return batch;
  }

  /** Sends all that waits, in order, within `timeoutMs`. Never throws: what failed is `failure`, and is tried again later. */
  async flush(timeoutMs: number): Promise<void> {
    const until = Date.now() + timeoutMs;
    while (this.entries.length && Date.now() < until) {
      await (this.#running ? within(this.#running, until - Date.now()) : this.alone((ms) => this.#step(ms), until - Date.now()));
      if (this.failure) return;
    }
    if (this.entries.length) this.failure = new NeveConnection("timeout", `Not all was sent within ${timeoutMs} ms.`);
  }

  /** Runs `call` when nothing else of this outbox is under way. @returns undefined where it had to wait too long. */
  async alone<T>(call: (msLeft: number) => Promise<T>, timeoutMs: number): Promise<T | undefined> {
    const until = Date.now() + timeoutMs;
    while (this.#running) {
      await within(this.#running, until - Date.now());
      if (Date.now() >= until) return undefined;
    }
    const work = call(until - Date.now());
    this.#running = work.catch(() => undefined).finally(() => (this.#running = undefined));
    return work;
  }

  /** Appends these messages by `send`, and notes what became of them. @throws NeveError where they were not taken. */
  async deliver(batch: Kept[], timeoutMs: number, send = this.#send): Promise<any> {
    const of = batch.map(({ id }) => id).join();
    if (this.#key[0] !== of) this.#key = [of, crypto.randomUUID()];
    const first = batch.filter(({ tried, alone }) => alone && !tried);
    for (const one of batch) one.tried = true;
    try {
      const answer = await send(batch, this.#key[1]!, timeoutMs);
      const told = new Map(((answer.appended ?? answer).messages as Fate[]).map((fate) => [fate.id, fate]));
      for (const one of batch) {
        const fate = told.get(one.id) ?? { id: one.id, state: "appended" };
        // The same words were said in another process. Now they are said again.
        if (fate.state === "known" && first.includes(one)) one.message = { ...one.message, id: (one.id = crypto.randomUUID()) };
        else this.decide(one, fate);
      }
      this.failure = undefined;
      this.#rests = 0;
      this.#pause = FIRST_PAUSE_MS;
      clearTimeout(this.#retry);
      return answer;
    } catch (error) {
      this.#refused(batch, error as NeveError);
      throw error;
    }
  }

  async #step(timeoutMs: number): Promise<void> {
    this.failure = undefined;
    const batch = this.batch();
    if (batch.length) return void (await this.deliver(batch, timeoutMs).catch(() => undefined));
    const deed = this.entries[0] as Deed;
    try {
      delete deed.error;
      await deed.act(timeoutMs);
    } catch (error) {
      deed.error = error as NeveError;
      if (deed.error.retryable) return this.#later(deed.error);
    }
    this.remove([deed]);
  }

  decide(one: Kept, fate: Fate): void {
    one.fate = fate;
    for (const list of this.watching) list.push(fate);
    this.remove([one]);
  }

  /* What is to blame itself leaves; everything else waits for the next attempt. */
  #refused(batch: Kept[], error: NeveError): void {
    if (error instanceof NeveBadRequest || error.status === 410 || (error.status === 409 && !error.retryable)) {
      const named = /\bmessages[.[](\d+)/.exec(error.message)?.[1];
      const blamed = batch.length === 1 ? batch[0] : named && batch[Number(named)];
      if (blamed) this.decide(blamed, { id: blamed.id, state: "refused", error });
      else this.#oneByOne = true; // nobody says which of them it is
    } else this.#later(error);
  }

  #later(error: NeveError): void {
    this.failure = error;
    clearTimeout(this.#retry);
    const pause = Math.max(this.#pause, (error.retryAfter ?? 0) * 1000);
    this.#rests = Date.now() + pause;
    this.#retry = setTimeout(() => void this.flush(LAST_PAUSE_MS), pause);
    this.#pause = Math.min(this.#pause * 2, LAST_PAUSE_MS);
    (this.#retry as { unref?: () => void }).unref?.(); // what cannot be sent must not keep a process alive
  }
}
