import type { components } from "./api.js";

/** What the API takes and answers, by the names of its description. */
export type Schemas = components["schemas"];

type CamelName<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : Name;

/** The fields of a body in this language's spelling; what is inside them keeps the API's. */
export type Camel<Body> = { [Name in keyof Body as CamelName<Name>]?: Body[Name] | undefined };

export function snake(options: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]));
}
