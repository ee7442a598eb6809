/* The table of scenarios, which the SDK of every language is held to. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { play } from "./scene.mjs";

const FOLDER = new URL("../../scenarios/", import.meta.url);
const LEAST = 40;

const table = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .flatMap((name) => (JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")).scenarios ?? []).filter(({ steps }) => steps).map((scenario) => [name.replace(".json", ""), scenario]));

test(`the table holds ${table.length} scenarios`, () => {
  assert.ok(table.length >= LEAST);
  assert.equal(new Set(table.map(([, { name }]) => name)).size, table.length);
});

for (const [file, scenario] of table) test(`${file}: ${scenario.name}`, () => play(scenario));
