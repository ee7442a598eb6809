/* Gives the build `settings:policy`: the policy as the API's schema describes it, so that the page names no setting itself. */
import { readFile } from "node:fs/promises";

const KEPT = ["description", "type", "enum", "default", "maxLength", "required"];

export const settings = {
  name: "settings",
  setup(build) {
    const file = new URL("../docs/openapi.json", import.meta.url).pathname;
    build.onResolve({ filter: /^settings:policy$/ }, ({ path }) => ({ path, namespace: "settings" }));
    build.onLoad({ filter: /.*/, namespace: "settings" }, async () => {
      const { schemas } = JSON.parse(await readFile(file, "utf8")).components;
      return { contents: JSON.stringify(read(schemas.Policy, schemas).of), loader: "json", watchFiles: [file] };
    });
  },
};

function read(schema, schemas) {
  const { $ref, anyOf, properties, additionalProperties: each, ...own } = schema;
  const named = $ref ? read(schemas[$ref.split("/").pop()], schemas) : {};
  const kept = Object.fromEntries(KEPT.filter((name) => name in own).map((name) => [name, own[name]]));
  return {
    ...named,
    ...kept,
    ...(anyOf && Object.assign({}, ...anyOf.map((one) => read(one, schemas)), kept)),
    ...(properties && { of: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, read(one, schemas)])) }),
    ...(each && typeof each === "object" && { each: read(each, schemas) }),
  };
}
