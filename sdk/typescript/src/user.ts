import type { Core } from "./neve.js";
import { Session, type CallOptions, type Opening } from "./session.js";
import { snake, type Camel, type Schemas } from "./wire.js";

const MOST_SESSIONS = 1_000;

/** Neve's tools, by the names that a model calls. */
export type Tool = "recall_memory" | "search_knowledge" | "read_document" | "search_conversation" | "remember" | "correct" | "forget";

/** What to list: the filters of the memories, or what a search finds, or what was made of conversations; with `events` these themselves. */
export type ToForget = Partial<Camel<Schemas["MemoryFilters"]>> & { query?: string; sessions?: string[]; events?: boolean };

/** A person. These calls are not part of a chat's turn: each throws a NeveError when it fails. */
export class User {
  #core: Core;

  /** @internal */
  constructor(
    readonly id: string,
    core: Core,
  ) {
    this.#core = core;
  }

  /** The same object for the same id, so that order and packs are kept. `opening` is used when the session is new. */
  session(id: string, opening: Opening = {}): Session {
    const { sessions } = this.#core;
    const name = JSON.stringify([this.id, id]);
    const session = sessions.get(name) ?? new Session(this.id, id, this.#core, {});
    Object.assign(session.opening, opening);
    sessions.delete(name);
    sessions.set(name, session);
    for (const [old, idle] of sessions) {
      if (sessions.size <= MOST_SESSIONS) break;
      if (!idle.kept && old !== name) sessions.delete(old);
    }
    return session;
  }

  /** Notes what the user wants remembered. */
  remember(text: string, { timeoutMs, ...options }: CallOptions & Camel<Omit<Schemas["CreateBody"], "text">> = {}): Promise<Schemas["KeptView"]> {
    return this.#core.raw.createMemory(this.id, { text, ...snake(options) } as any, { timeoutMs, span: "upsert_memory" }) as any;
  }

  /** Deletes a memory, by default with what was made of it and the packs that hold it. Filters, a query or conversations only list what would be forgotten; `{ confirm }` of that list has exactly these forgotten, by a job whose result is the receipt. */
  forget(which: string | { id: string }, options?: CallOptions & { cascade?: boolean; purgePacks?: boolean }): Promise<Schemas["DeletedView"]>;
  forget(which: { confirm: string; purgePacks?: boolean }, options?: CallOptions): Promise<Schemas["JobOut"]>;
  forget(which: ToForget, options?: CallOptions): Promise<Schemas["ForgetListView"]>;
  async forget(which: any, options: any): Promise<any> {
    return (await import("./more.js")).forget(this.#core.raw, this.id, which, options);
  }

  /** Answers a model's call of one of Neve's tools: `content` belongs into the `tool_result`, with `is_error`. A tool that writes does it once for a `toolUseId` in its session. */
  async callTool(name: Tool, args: object, options?: CallOptions & { sessionId?: string; toolUseId?: string }): Promise<{ content: string; is_error: boolean } & Record<string, unknown>> {
    return (await import("./more.js")).callTool(this.#core.raw, this.id, name, args, options);
  }

  /** All of the user's memories, page by page. */
  memories(filter: Record<string, unknown> = {}): AsyncGenerator<Schemas["MemoryView"]> {
    return this.#listed("listMemories", "memories", filter);
  }

  /** The heads of all documents, page by page; `neve.raw.getDocument` reads one. */
  documents(filter: Record<string, unknown> = {}): AsyncGenerator<Schemas["DocumentHeadView"]> {
    return this.#listed("listDocuments", "documents", filter);
  }

  /** Makes a token that is good for this user alone, for `ttlS` seconds (60 to 3,600; 900 unless said): `new Neve({ apiKey: token })` in place of the
   * key, where no key may be. Needs a key with the scope `admin` or `tokens`. */
  token(options: { scopes: Schemas["UserTokenScope"][]; ttlS?: number; label?: string }): Promise<Schemas["TokenOut"]> {
    return this.#core.raw.createUserToken(this.id, snake(options) as any);
  }

  /** Asks for a copy of everything: a job, whose result has the copy's addresses once `neve.raw.readAdminJob`, or with a token of the scope `self` `neve.raw.readJob`, says that it is done. */
  export(): Promise<Schemas["JobOut"]> {
    return this.#core.raw.exportUser(this.id);
  }

  /** Erases the user. It takes 16 to 26 minutes: `neve.raw.readAdminJob` shows the receipt. What is kept of the user is thrown away. */
  erase(options: { close?: boolean } = {}): Promise<Schemas["JobOut"]> {
    for (const session of this.#core.sessions.values()) if (session.userId === this.id) session.drop();
    return this.#core.raw.eraseUser(this.id, options);
  }

  async *#listed(operation: "listMemories" | "listDocuments", name: string, filter: Record<string, unknown>): AsyncGenerator<any> {
    let cursor: string | undefined;
    do {
      const page: any = await this.#core.raw[operation](this.id, { ...snake(filter), cursor } as any);
      if (!Array.isArray(page?.[name])) throw this.#core.transport.notNeve();
      yield* page[name];
      cursor = page.next_cursor;
    } while (cursor);
  }
}
