/** A long list of which only the rows in sight are in the page: each has the same height, in pixels. */
import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

type Given<T> = {
  rows: T[];
  height: number;
  label: string;
  id: (row: T) => string;
  render: (row: T, index: number) => ComponentChildren;
  /** Enter on a row. */
  onOpen?: (row: T) => void;
  /** Of all rows, where not all are loaded. */
  total?: number;
  /** The last rows are in sight: load more. */
  onEnd?: () => void;
};
const BEYOND = 6;

export function Window<T>({ rows, height, label, id, render, onOpen, total, onEnd }: Given<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, see] = useState({ from: 0, to: 20 });
  const [active, activate] = useState(0);
  const toFocus = useRef(-1);
  const last = rows.length - 1;

  // The height is read when it changes, not at every step of a scroll, which would have the page laid out each time.
  const boxHeight = useRef(0);
  const measure = () => {
    const { scrollTop = 0 } = box.current ?? {};
    const from = Math.max(0, Math.floor(scrollTop / height) - BEYOND);
    const to = Math.ceil((scrollTop + boxHeight.current) / height) + BEYOND;
    if (from !== seen.from || to !== seen.to) see({ from, to });
    if (onEnd && to > last) onEnd();
  };
  const latest = useRef(measure);
  latest.current = measure;
  useLayoutEffect(() => {
    const resized = () => {
      boxHeight.current = box.current?.clientHeight ?? 0;
      latest.current();
    };
    resized();
    const observer = new ResizeObserver(resized);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [rows.length, height]);
  useLayoutEffect(() => {
    if (toFocus.current < 0) return;
    box.current?.querySelector<HTMLElement>(`[aria-rowindex="${toFocus.current + 1}"]`)?.focus({ preventScroll: true });
    toFocus.current = -1;
  });

  const moveTo = (index: number) => {
    const to = Math.max(0, Math.min(last, index));
    const { current } = box;
    if (!current) return;
    if (to * height < current.scrollTop) current.scrollTop = to * height;
    else if ((to + 1) * height > current.scrollTop + boxHeight.current) current.scrollTop = (to + 1) * height - boxHeight.current;
    toFocus.current = to;
    activate(to);
    measure();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).getAttribute("role") !== "row") return;
    const page = Math.max(1, Math.floor(boxHeight.current / height) - 1);
    const moves: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: last };
    const row = rows[active];
    if (event.key === "Enter" && row && onOpen) onOpen(row);
    else if (event.key in moves) moveTo(moves[event.key] ?? 0);
    else return;
    event.preventDefault();
  };

  // A row that was in sight before is the same element again: Preact does not look into it.
  const made = useMemo(() => new Map<T, VNode>(), [rows, render]);
  const cell = (row: T, index: number) => {
    const there = made.get(row) ?? <div role="gridcell">{render(row, index)}</div>;
    made.set(row, there);
    return there;
  };

  const at = Math.min(active, last);
  const shown = rows.slice(seen.from, seen.to).map((row, offset) => [row, seen.from + offset] as const);
  const there = rows[at];
  // The row with the focus stays in the page wherever one scrolls: else the keyboard would lose its place.
  if (there !== undefined && (at < seen.from || at >= seen.to)) shown.push([there, at]);
  return (
    <div ref={box} class="window" role="grid" aria-label={label} aria-rowcount={total ?? rows.length} onScroll={measure} onKeyDown={onKeyDown}>
      <div role="rowgroup" style={{ height: `${rows.length * height}px` }}>
        {shown.map(([row, index]) => (
          <div
            key={id(row)}
            role="row"
            aria-rowindex={index + 1}
            tabIndex={index === at ? 0 : -1}
            style={{ height: `${height}px`, transform: `translateY(${index * height}px)` }}
            onFocus={() => index !== active && activate(index)}
          >
            {cell(row, index)}
          </div>
        ))}
      </div>
    </div>
  );
}
