/* Patterns of the scenarios: sdk/scenarios/README.md#patterns. */
import { isDeepStrictEqual } from "node:util";

const shown = (value) => JSON.stringify(value)?.slice(0, 600);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** What was saved, or a field of it. */
export function valueOf(path, saved) {
  return path.split(".").reduce((value, field) => value?.[field], saved);
}

const SPECIAL = {
  $any: (_, found, at) => (found == null ? `${at}: is missing` : undefined),
  $absent: (_, found, at) => (found == null ? undefined : `${at}: ${shown(found)} is there`),
  $empty: (_, found, at) => (found?.length === 0 ? undefined : `${at}: ${shown(found)} is not empty`),
  $min: (least, found, at) => (found >= least ? undefined : `${at}: ${shown(found)} is less than ${least}`),
  $has: (patterns, found, at, saved) => {
    if (!Array.isArray(found)) return `${at}: ${shown(found)} is no list`;
    const missing = patterns.find((one) => found.every((element) => difference(one, element, saved)));
    return missing === undefined ? undefined : `${at}: ${shown(found)} has nothing like ${shown(missing)}`;
  },
  $says: (texts, found, at) => {
    const missing = texts.find((text) => !String(found).includes(text));
    return missing === undefined ? undefined : `${at}: ${shown(found)} does not say ${missing}`;
  },
  $same: (path, found, at, saved) => (isDeepStrictEqual(found, valueOf(path, saved)) ? undefined : `${at}: ${shown(found)}, not the same as ${path}: ${shown(valueOf(path, saved))}`),
};

/** The first place at which something else was found; undefined where nothing was. */
export function difference(pattern, found, saved, at = "") {
  if (isObject(pattern)) {
    const names = Object.keys(pattern);
    if (names.length === 1 && names[0] in SPECIAL) return SPECIAL[names[0]](pattern[names[0]], found, at, saved);
    if (!isObject(found)) return `${at}: ${shown(found)} is no object`;
    for (const name of names) {
      const different = difference(pattern[name], found[name], saved, `${at}.${name}`);
      if (different) return different;
    }
    return undefined;
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(found) || found.length !== pattern.length) return `${at}: ${shown(found)} is no list of ${pattern.length}`;
    for (const [n, one] of pattern.entries()) {
      const different = difference(one, found[n], saved, `${at}[${n}]`);
      if (different) return different;
    }
    return undefined;
  }
  return pattern === found ? undefined : `${at}: ${shown(found)}, not ${shown(pattern)}`;
}
