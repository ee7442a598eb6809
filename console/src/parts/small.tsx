/** The small pieces that every view is made of. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../api.ts";
import { Text } from "./text.tsx";

const near = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const far = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const HALF_A_YEAR_MS = 182 * 86_400_000;

/** In the reader's zone; the whole of it as a title. */
export function Time({ at }: { at: string | undefined }) {
  if (!at) return null;
  const date = new Date(at);
  if (Number.isNaN(+date)) return <Text value={at} brief />;
  return (
    <time dateTime={at} title={whole.format(date)}>
      {(Math.abs(Date.now() - +date) < HALF_A_YEAR_MS ? near : far).format(date)}
    </time>
  );
}

/** US dollars, with digits enough to see a difference. */
export const money = (usd: number) => `$${usd.toFixed(usd && Math.abs(usd) < 0.01 ? 6 : Math.abs(usd) < 1 ? 4 : 2)}`;
export const Money = ({ usd }: { usd: number }) => <span class="number">{money(usd)}</span>;
export const count = (of: number) => of.toLocaleString("en");
export const Tokens = ({ count: of }: { count: number }) => <span class="number">{count(of)} tok</span>;

/** In place of a list without rows: what would be here, and how it comes. */
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

export const Busy = () => (
  <p class="empty" role="status">
    Loading…
  </p>
);

/** A word about a thing: `kind` is good, bad or none. */
export const Badge = ({ children, kind = "" }: { children: ComponentChildren; kind?: "good" | "bad" | "" }) => <span class={`badge ${kind}`}>{children}</span>;

/** What the service said, whole: its words, each field at fault, the code, and the id of the request to ask about. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => void }) {
  if (!error) return null;
  const { message, code, fields, requestId } = error instanceof ApiError ? error : new ApiError(0, "failed", String(error));
  return (
    <div class="error" role="alert">
      <p>
        <Text value={message} />
      </p>
      {fields.length > 0 && (
        <ul>
          {fields.map((one) => (
            <li>
              <b>{one.field}</b> <Text value={one.message} />
            </li>
          ))}
        </ul>
      )}
      <p class="dim">
        {code} {requestId}
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A button that does something at the service: off meanwhile, with what went wrong below it. A refusal that `caught`
 * takes (true) is not shown. */
export function Act(given: { act: () => Promise<unknown>; caught?: (error: unknown) => boolean; class?: string; disabled?: boolean; children: ComponentChildren }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await given.act();
    } catch (failed) {
      if (!given.caught?.(failed)) setError(failed);
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" class={given.class ?? ""} disabled={busy || given.disabled === true} aria-busy={busy} onClick={() => void run()}>
        {given.children}
      </button>
      <ErrorNote error={error} />
    </>
  );
}
