/** Hooks of views: what they read, and page by page what is long. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, api, type Asked } from "./api.ts";
import type { Query } from "./place.ts";

export type Loaded<T> = { value: T | undefined; error: ApiError | undefined; loading: boolean; reload: () => void };

const told = (error: unknown) => (error instanceof ApiError ? error : new ApiError(0, "failed", String(error)));

/** Reads again when `what` changes. `reload` keeps what is there until the new answer comes. */
export function useLoad<T>(read: (asked: Asked) => Promise<T>, what: unknown[]): Loaded<T> {
  const [state, set] = useState<Omit<Loaded<T>, "reload">>({ value: undefined, error: undefined, loading: true });
  const [times, again] = useState(0);
  const of = useRef("");
  useEffect(() => {
    const leaving = new AbortController();
    const same = of.current === JSON.stringify(what);
    of.current = JSON.stringify(what);
    set((before) => ({ value: same ? before.value : undefined, error: undefined, loading: true }));
    read({ signal: leaving.signal }).then(
      (value) => leaving.signal.aborted || set({ value, error: undefined, loading: false }),
      (error: unknown) => leaving.signal.aborted || set((before) => ({ ...before, error: told(error), loading: false })),
    );
    return () => leaving.abort();
  }, [...what, times]);
  return { ...state, reload: () => again((count) => count + 1) };
}

export type Pages<T> = {
  rows: T[];
  error: ApiError | undefined;
  loading: boolean;
  /** Absent at the end of the list. */
  more: (() => void) | undefined;
  reload: () => void;
  /** After a write: what the row is now, without reading the list again. */
  edit: (change: (rows: T[]) => T[]) => void;
};
const PAGE = 200;

/** The rows of a list, page after page up to `most`. Other filters and a reload keep the old rows until the new ones are
 * there: while the service is away, they stay. */
export function usePages<T>(path: string, field: string, query: Query = {}, most = 20_000): Pages<T> {
  const [state, set] = useState({ rows: [] as T[], error: undefined as ApiError | undefined, loading: true, cursor: "" });
  const [upTo, goOn] = useState(most);
  const [times, again] = useState(0);
  const list = JSON.stringify([path, query]);
  const run = useRef({ path: "", list: "", times: -1 });
  useEffect(() => {
    const leaving = new AbortController();
    const { current: before } = run;
    const goesOn = before.list === list && before.times === times;
    run.current = { path, list, times };
    let rows = goesOn ? state.rows : [];
    let cursor = goesOn ? state.cursor : "";
    set((shown) => ({ ...shown, rows: before.path === path ? shown.rows : [], error: undefined, loading: true }));
    const read = async () => {
      do {
        const asked = { query: { limit: PAGE, ...query, cursor: cursor || undefined }, signal: leaving.signal };
        const page = await api.get<Record<string, unknown>>(path, asked);
        if (leaving.signal.aborted) return;
        rows = rows.concat(page[field] as T[]);
        cursor = (page.next_cursor as string | undefined) ?? "";
        const loading = !!cursor && rows.length < upTo;
        const reloads = before.list === list && loading;
        set((shown) => ({ rows: reloads ? rows.concat(shown.rows.slice(rows.length)) : rows, error: undefined, loading, cursor }));
      } while (cursor && rows.length < upTo);
    };
    read().catch((error: unknown) => leaving.signal.aborted || set((before) => ({ ...before, error: told(error), loading: false })));
    return () => leaving.abort();
  }, [list, times, upTo]);
  const { rows, error, loading, cursor } = state;
  return {
    rows,
    error,
    loading,
    more: cursor && !loading ? () => goOn(rows.length + most) : undefined,
    reload: () => again((count) => count + 1),
    edit: (change) => set((before) => ({ ...before, rows: change(before.rows) })),
  };
}
