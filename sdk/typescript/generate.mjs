/* Writes src/api.ts (types) and src/operations.ts (the table behind `neve.raw`) from docs/openapi.json. With --check it says
 * instead whether they are what it would write. NEVE_OPENAPI names another description. */
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const source = new URL(process.env.NEVE_OPENAPI ?? "../../docs/openapi.json", import.meta.url);
const description = JSON.parse(await readFile(source, "utf8"));
const head = "// Written by generate.mjs from docs/openapi.json: `npm run generate`.\n";

const operations = Object.entries(description.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.operationId)
      .map(([method, operation]) => ({ path, method, operation })),
  )
  .sort((one, other) => (one.operation.operationId < other.operation.operationId ? -1 : 1));

function row({ path, method, operation }) {
  const own = (operation.parameters ?? []).some(({ name }) => name === "Idempotency-Key");
  const bare = !operation.requestBody && !(operation.parameters ?? []).some((parameter) => parameter.in === "query");
  return `${operation.operationId} ${own ? method.toUpperCase() : method}${bare ? "!" : ""} ${path.replace(/^\/v1/, "").replace(/\{[^}]*\}/g, "*")}`;
}

function signature({ path, operation }) {
  const id = JSON.stringify(operation.operationId);
  const places = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => `${name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())}: string`);
  const types = Object.keys(operation.requestBody?.content ?? {});
  const asks = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  const needed = asks.some(({ required }) => required);
  const body = types.length ? `body${operation.requestBody.required ? "" : "?"}: Body<${id}>` : asks.length ? `query${needed ? "" : "?"}: Query<${id}>` : undefined;
  const options = types.length && asks.length ? `options${needed ? "" : "?"}: RawOptions & { query${needed ? "" : "?"}: Query<${id}> }` : "options?: RawOptions";
  const summary = (operation.summary ?? "").replaceAll("*/", "");
  return `  /** ${summary} */\n  ${operation.operationId}(${[...places, ...(body ? [body] : []), options].join(", ")}): Promise<Result<${id}>>;`;
}

const written = {
  "src/api.ts": head + astToString(await openapiTS(description, { rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false, enum: false, alphabetize: true })),
  "src/operations.ts": `${head}import type { Body, Query, RawOptions, Result } from "./raw.js";

/** Operation, method (in capitals where it takes an Idempotency-Key; with ! where there is neither body nor query), path. */
export const TABLE = \`${operations.map(row).join("\n")}\`;

/** Every call of the API by its operationId: the ids of its path, its body or query, options. */
export interface Raw {
${operations.map(signature).join("\n")}
}
`,
};

let old = 0;
for (const [name, text] of Object.entries(written)) {
  const file = new URL(name, import.meta.url);
  if (!process.argv.includes("--check")) await writeFile(file, text);
  else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    console.error(`sdk/typescript/${name} is not what docs/openapi.json says: npm run generate`);
    old++;
  }
}
process.exitCode = old ? 1 : 0;
