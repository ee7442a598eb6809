/** What goes on behind the page: read again and again while something is under way, and never while nobody looks. */
import { useEffect, useRef } from "preact/hooks";
import type { Asked } from "./api.ts";
import { type Loaded, useLoad } from "./load.ts";

/** `every` says in how many seconds to look again; without it not again. `at` is when the value was true. */
export function useWatch<T>(read: (asked: Asked) => Promise<T>, what: unknown[], every: (value: T) => number | undefined): Loaded<T> & { at: string } {
  const found = useLoad(read, what);
  const seen = useRef<{ value: T | undefined; at: string }>({ value: undefined, at: "" });
  if (seen.current.value !== found.value) seen.current = { value: found.value, at: new Date().toISOString() };
  const { value, error, loading, reload } = found;
  useEffect(() => {
    const seconds = value === undefined || loading ? undefined : every(value);
    if (!seconds) return;
    let timer = 0;
    const wait = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") timer = setTimeout(reload, Math.max(0, Date.parse(seen.current.at) + seconds * 1000 - Date.now()) || 1000);
    };
    wait();
    document.addEventListener("visibilitychange", wait);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", wait);
    };
  }, [value, loading]);
  return { value, error, loading, reload, at: seen.current.at };
}
