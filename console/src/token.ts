/** The access token: taken out of the address, held by this module alone, asked for again when it has ended. */
import { signal } from "@preact/signals";

/** What a token says of itself. `user` is missing in a tenant's, `scopes` in an API key, which says nothing. */
export type Identity = { user?: string; tenant?: string; scopes?: string[]; until?: Date };

export const identity = signal<Identity | null>(null);
/** Why the token of the address was not taken. */
export const refused = signal<string | undefined>(undefined);
/** Why a token is asked for, while one is. */
export const wanted = signal<string | null>(null);

let token = "";
let waiting: { given: Promise<void>; give: () => void } | null = null;

export const bearer = () => token;

export const may = (scope: string) => identity.value?.scopes?.includes(scope) ?? true;

/** `#token=…` and `#/memories?token=…`: out of the address before anything else sees it. */
export function takeFromAddress(): void {
  const { hash, pathname, search } = location;
  const at = hash.search(/(?:^#|[?&])token=/);
  if (at < 0) return;
  const text = hash.slice(at + (at && 1)).replace(/^#/, "");
  const query = new URLSearchParams(text);
  const found = query.get("token") ?? "";
  query.delete("token");
  const rest = query.toString();
  history.replaceState(null, "", pathname + search + (at ? `${hash.slice(0, at)}${rest && hash[at] + rest}` : rest && `#/?${rest}`));
  refused.value = take(found);
}

/** Why it cannot be used, or nothing: another's token would be answered with another's memory below what is typed. */
export function take(text: string): string | undefined {
  const given = text.trim();
  const said = saidBy(given);
  if (!said) return "This is neither an access token nor an API key of Neve.";
  const before = identity.value;
  if (before && (before.user !== said.user || (before.tenant && said.tenant && before.tenant !== said.tenant))) {
    return `This token is of ${said.user ?? "the tenant"}, and the page is of ${before.user ?? "the tenant"}. Leave first.`;
  }
  token = given;
  identity.value = said;
  wanted.value = null;
  waiting?.give();
  waiting = null;
}

/** Resolves once there is another token than the one that was refused. */
export function another(used: string, why: string): Promise<void> {
  if (token !== used) return Promise.resolve();
  wanted.value = why;
  if (!waiting) {
    let give = () => {};
    waiting = { given: new Promise((resolve) => (give = resolve)), give: () => give() };
  }
  return waiting.given;
}

export const leave = () => location.replace(location.pathname);

function saidBy(text: string): Identity | undefined {
  if (/^nv_\w+_\w+$/.test(text)) return {};
  try {
    const middle = text.split(".")[1] ?? "";
    const bytes = Uint8Array.from(atob(middle.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
    const { sub, tenant, scopes, exp } = JSON.parse(new TextDecoder().decode(bytes));
    return { user: sub, tenant, scopes: scopes.split(" "), until: new Date(exp * 1000) };
  } catch {
    return undefined;
  }
}
