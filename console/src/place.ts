/** Where the page is: everything that a reload needs stands behind the # of the address, and the token never does. */
import { computed, signal } from "@preact/signals";
import { identity } from "./token.ts";

export type Place = { path: string[]; query: Record<string, string> };
export type Query = Record<string, string | number | boolean | undefined>;

const read = (): Place => {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
};

/** An address that was typed with half a percent sign is an address of nothing, not the end of the page. */
const decoded = (text: string) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export const place = signal<Place>({ path: [], query: {} });
/** Whose memory is looked at: the user of the token, else the one in the address. */
export const user = computed(() => identity.value?.user ?? place.value.query.user ?? "");
export const session = computed(() => place.value.query.session ?? "");

export const look = () => void (place.value = read());

export const search = (query: Query) => {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== "" && value !== false);
  const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
};

/** The address of a view: `href(["memory", id])`. User and session go with it; what is given as undefined is left out. */
export const href = (path: string[], query: Query = {}) =>
  `#/${path.map(encodeURIComponent).join("/")}${search({ user: user.value, session: session.value, ...query })}`;

export const go = (path: string[], query?: Query) => void (location.hash = href(path, query));

/** Change the query of where the page is, without a step back for each letter that is typed. */
export const put = (query: Query) => {
  history.replaceState(null, "", href(place.value.path, { ...place.value.query, ...query }));
  look();
};
