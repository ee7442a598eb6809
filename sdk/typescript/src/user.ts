import type { Core } from "./neve.js";
import { Session, type CallOptions, type Opening } from "./session.js";
import { snake, type Camel, type Schemas } from "./wire.js";

const MOST_SESSIONS = 1_000;

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

  /** Deletes a memory, by default with what was made of it and the packs that hold it. */
  forget(which: string | { id: string }, { cascade = true, purgePacks = true, timeoutMs }: CallOptions & { cascade?: boolean; purgePacks?: boolean } = {}): Promise<Schemas["DeletedView"]> {
    return this.#core.raw.deleteMemory(this.id, typeof which === "string" ? which : which.id, { cascade, purge_packs: purgePacks }, { timeoutMs, span: "delete_memory" });
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
