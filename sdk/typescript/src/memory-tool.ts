import type { Raw } from "./operations.js";

/** What a model may ask of the memory tool (`memory_20250818`). */
export type MemoryCommand =
  | { command: "view"; path: string; view_range?: number[] | null }
  | { command: "create"; path: string; file_text: string }
  | { command: "str_replace"; path: string; old_str: string; new_str: string }
  | { command: "insert"; path: string; insert_line: number; insert_text: string }
  | { command: "delete"; path: string }
  | { command: "rename"; old_path: string; new_path: string };

export type MemoryHandlers = { [Name in MemoryCommand["command"]]: (command: Extract<MemoryCommand, { command: Name }>) => Promise<string> };

const ROOT = "/memories";
/** A folder of which nothing is left is kept by a blank document of this name, which no list shows. */
const MARKER = ".neve-folder";
const FOLDER_SIZE = "4K";
const MOST_LINES = 999_999;
const TRIES = 5;
const AT_ONCE = 8;
const AWAY = "The memory cannot be reached at the moment. Go on without it.";
const BLOCKED: Record<string, string> = {
  card_number: "a card number",
  ssn: "a social security number",
  password: "a password",
  api_key: "an API key",
  medical_record_number: "a medical record number",
};
/** What each command needs. A model may leave out, or mistake, what its schema asks for. */
const PARAMETERS: Record<MemoryCommand["command"], Record<string, "string" | "number">> = {
  view: { path: "string" },
  create: { path: "string", file_text: "string" },
  str_replace: { path: "string", old_str: "string", new_str: "string" },
  insert: { path: "string", insert_line: "number", insert_text: "string" },
  delete: { path: "string" },
  rename: { old_path: "string", new_path: "string" },
};

/** Handlers for `betaMemoryTool` of `@anthropic-ai/sdk/helpers/beta/memory`: the model's files are the user's documents below
 * `/memories/`. They answer as Anthropic's own tool on a file system does; what they throw is told to the model.
 *
 * `neve.raw` is all that is used; a key of the scope `documents` is enough. */
export function memoryHandlers(neve: { raw: Raw }, userId: string): MemoryHandlers {
  const handlers = commandsOf(neve.raw, userId);
  const checked = Object.entries(PARAMETERS).map(([name, parameters]) => [
    name,
    async (command: any): Promise<string> => {
      for (const [parameter, type] of Object.entries(parameters)) {
        if (typeof command[parameter] !== type) throw new Error(`The parameter \`${parameter}\` of ${name} is required, as a ${type === "string" ? "text" : "whole number"}.`);
      }
      return (handlers as any)[name](command).catch(inWords);
    },
  ]);
  return Object.fromEntries(checked);
}

function commandsOf(raw: Raw, userId: string): MemoryHandlers {

  const read = (path: string): Promise<{ text: string; rev: number } | undefined> => raw.getDocument(userId, { path }).catch(unless(404));
  const write = (path: string, text: string, rev?: number): Promise<unknown> =>
    raw.putDocument(userId, { text }, { query: { path }, ...(rev === undefined ? { ifNoneMatch: "*" } : { ifMatch: rev }) });

  async function* below(folder: string): AsyncGenerator<{ path: string; bytes?: number }> {
    for (let cursor: string | undefined; ; ) {
      const page: any = await raw.listDocuments(userId, { prefix: folder, limit: 200, ...(cursor && { cursor }) });
      yield* page.documents;
      if (!(cursor = page.next_cursor)) return;
    }
  }

  async function isFolder(path: string): Promise<boolean> {
    if (path === ROOT) return true;
    for await (const _ of below(path)) return true;
    return false;
  }

  /** After something has left it. */
  async function keep(folder: string): Promise<void> {
    if (!(await isFolder(folder))) await write(`${folder}/${MARKER}`, "");
  }

  async function list(folder: string, asked: string): Promise<string> {
    const names = new Map<string, { path: string; below: Map<string, string> }>();
    const bytes = new Map<string, number>(); // of texts that were written since the service counts them
    for await (const { path, bytes: size } of below(folder)) {
      if (size !== undefined) bytes.set(path, size);
      const [first, second, ...rest] = path.slice(folder.length + 1).split("/") as [string, string?, ...string[]];
      const one = names.get(first) ?? { path: second === undefined ? path : "", below: new Map() };
      names.set(first, one);
      if (second !== undefined) one.below.set(second, rest.length ? "" : path);
    }
    const lines: { name: string; path: string }[] = [];
    for (const [name, one] of sorted(names)) {
      lines.push({ name: one.path ? name : `${name}/`, path: one.path });
      for (const [inner, path] of sorted(one.below)) lines.push({ name: path ? `${name}/${inner}` : `${name}/${inner}/`, path });
    }
    const sizes: string[] = [];
    for (let at = 0; at < lines.length; at += AT_ONCE) {
      sizes.push(...(await Promise.all(lines.slice(at, at + AT_ONCE).map(async ({ path }) => (path ? sizeOf(bytes.get(path) ?? lengthOf((await read(path))?.text ?? "")) : FOLDER_SIZE)))));
    }
    const header = `Here're the files and directories up to 2 levels deep in ${asked}, excluding hidden items and node_modules:`;
    return [header, `${FOLDER_SIZE}\t${asked}`, ...lines.map(({ name }, at) => `${sizes[at]}\t${asked}/${name}`)].join("\n");
  }

  /** Changes a file to what `change` makes of its lines. @returns what it made. */
  async function edit<T extends { text: string }>(asked: string, change: (text: string) => T): Promise<T> {
    const path = place(asked);
    for (let tries = 1; ; tries++) {
      const file = path === ROOT ? undefined : await read(path);
      if (!file) throw new Error((await isFolder(path)) ? `The path ${asked} is not a file.` : missing(asked));
      const made = change(file.text);
      try {
        await write(path, made.text, file.rev);
        return made;
      } catch (error) {
        if ((error as { status?: number }).status !== 412 || tries === TRIES) throw error; // else somebody else has written it meanwhile
      }
    }
  }

  return {
    async view({ path: asked, view_range }) {
      const path = place(asked);
      const file = path === ROOT ? undefined : await read(path);
      if (!file) {
        if (await isFolder(path)) return list(path, asked);
        throw new Error(missing(asked));
      }
      const lines = file.text.split("\n");
      if (lines.length > MOST_LINES) throw new Error(`File ${asked} has too many lines (${lines.length}). Maximum is ${MOST_LINES.toLocaleString()} lines.`);
      const [from, to] = view_range?.length === 2 ? (view_range as [number, number]) : [1, -1];
      const first = Math.max(1, from) - 1;
      return `Here's the content of ${asked} with line numbers:\n${numbered(lines.slice(first, to === -1 ? lines.length : to), first)}`;
    },

    async create({ path: asked, file_text }) {
      const path = place(asked);
      const exists = new Error(`File ${asked} already exists`);
      if (path === ROOT) throw exists;
      try {
        await write(path, file_text);
      } catch (error) {
        const { status } = error as { status?: number };
        if (status === 412 || (status === 409 && (await isFolder(path)))) throw exists;
        throw status === 409 ? new Error(`The path ${asked} is below a file.`) : error;
      }
      return `File created successfully at: ${asked}`;
    },

    async str_replace({ path: asked, old_str, new_str }) {
      const { text, at } = await edit(asked, (before) => {
        const found = before.split("\n").flatMap((line, index) => (line.includes(old_str) ? [index + 1] : []));
        if (!found.length) throw new Error(`No replacement was performed, old_str \`${old_str}\` did not appear verbatim in ${asked}.`);
        if (found.length > 1) throw new Error(`No replacement was performed. Multiple occurrences of old_str \`${old_str}\` in lines: ${found.join(", ")}. Please ensure it is unique`);
        return { text: before.replace(old_str, () => new_str), at: found[0]! - 1 };
      });
      const first = Math.max(0, at - 2);
      return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${numbered(text.split("\n").slice(first, at + 3), first)}`;
    },

    async insert({ path: asked, insert_line, insert_text }) {
      await edit(asked, (before) => {
        const lines = before.split("\n");
        if (!(insert_line >= 0 && insert_line <= lines.length)) {
          throw new Error(`Invalid \`insert_line\` parameter: ${insert_line}. It should be within the range of lines of the file: [0, ${lines.length}]`);
        }
        lines.splice(insert_line, 0, insert_text.replace(/\n$/, ""));
        return { text: lines.join("\n") };
      });
      return `The file ${asked} has been edited.`;
    },

    async delete({ path: asked }) {
      const path = place(asked);
      if (path === ROOT) throw new Error("Cannot delete the /memories directory itself");
      const gone = await raw.deleteDocuments(userId, { path }).catch(unless(404));
      if (!gone) {
        if (!(await isFolder(path))) throw new Error(`The path ${asked} does not exist`);
        while ((await raw.deleteDocuments(userId, { prefix: path })).more);
      }
      await keep(parent(path));
      return `Successfully deleted ${asked}`;
    },

    async rename({ old_path, new_path }) {
      const [from, to] = [place(old_path), place(new_path)];
      if (from === ROOT) throw new Error("Cannot rename the /memories directory itself");
      if ((await read(to)) || (await isFolder(to))) throw new Error(`The destination ${new_path} already exists`);
      if (to.startsWith(`${from}/`)) {
        if (!(await read(from))) await keep(parent(to));
        throw new Error(`${new_path} is below ${old_path}`);
      }
      const move = (prefix: object): Promise<any> => raw.moveDocument(userId, { path: from, to, ...prefix } as Parameters<Raw["moveDocument"]>[1]).catch(crossing);
      const crossing = (error: { status?: number }): never => {
        throw error.status === 409 ? new Error(`The path ${new_path} is below a file.`) : error;
      };
      if (from === to || !(await move({}).catch(unless(404)))) {
        if (!(await isFolder(from))) {
          await keep(parent(to)); // as on a file system, where the folder is made first
          throw new Error(`The path ${old_path} does not exist`);
        }
        while ((await move({ prefix: true })).more);
      }
      await keep(parent(from));
      return `Successfully renamed ${old_path} to ${new_path}`;
    },
  };
}

/** Where a path of the model leads. @throws Error for one that leads elsewhere than below `/memories`. */
function place(asked: string): string {
  if (!asked.startsWith(ROOT)) throw new Error(`Path must start with /memories, got: ${asked}`);
  const segments: string[] = [];
  for (const segment of asked.slice(ROOT.length).split("/")) {
    if (segment === "..") {
      if (!segments.length) throw new Error(`Path ${asked} would escape /memories directory`);
      segments.pop();
    } else if (segment && segment !== ".") segments.push(segment);
  }
  return [ROOT, ...segments].join("/");
}

const parent = (path: string): string => path.slice(0, path.lastIndexOf("/"));
const missing = (asked: string): string => `The path ${asked} does not exist. Please provide a valid path.`;
const shown = ([name]: [string, unknown]): boolean => !name.startsWith(".") && name !== "node_modules";
const sorted = <T>(names: Map<string, T>): [string, T][] => [...names].filter(shown).sort(([one], [other]) => (one < other ? -1 : 1));
const numbered = (lines: string[], before: number): string => lines.map((line, at) => `${String(before + at + 1).padStart(6)}\t${line}`).join("\n");

const unless =
  (status: number) =>
  (error: { status?: number }): undefined => {
    if (error.status !== status) throw error;
  };

/** @throws Error that says it to the model; what is no matter of the model's as it is. */
function inWords(error: { code?: string; message: string; retryable?: boolean; errors?: { field: string; message: string }[] }): never {
  const { code } = error;
  const said = (error.errors ?? []).map(({ field, message }) => `the ${field.includes("text") ? "text" : "path"} ${message}`).join(" and ");
  const held = Object.keys(BLOCKED).flatMap((kind) => (said.includes(kind) ? [BLOCKED[kind]] : []));
  if (code === "pii_blocked") throw new Error(`Not stored: holds ${held.join(" and ") || "personal data"}.`);
  if (code === "validation_failed") throw new Error(`Not stored: ${said || error.message}.`);
  if (code === "payload_too_large") throw new Error("Not stored: the text is too long; at most 1 MiB is kept.");
  throw error.retryable ? new Error(AWAY) : error;
}

const lengthOf = (text: string): number => new TextEncoder().encode(text).length;

function sizeOf(size: number): string {
  let unit = 0;
  for (; size >= 1024 && unit < 3; unit++) size /= 1024;
  return `${size % 1 ? size.toFixed(1) : size}${"BKMG"[unit]}`;
}
