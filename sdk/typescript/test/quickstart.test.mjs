/* The programs of docs/quickstart-typescript.md and docs/access-tokens.md, checked by tsc and run as they stand, against the model of tests/loopback.
 * NEVE_MODEL is its address; the tenant has a static prefix above 1,024 tokens. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";

const { NEVE_URL: SERVICE, NEVE_KEY: KEY, NEVE_MODEL: MODEL } = process.env;
const MOST_LINES = 12;
/** The machine may be busy, and no program is about what a default budget cuts off. */
const PATIENT = "new Neve({ timeouts: { recall: 60_000, pack: 60_000, context: 60_000, append: 60_000, usage: 60_000 } })";
const FOLDER = new URL("../.pages/", import.meta.url);
const pages = ["quickstart-typescript", "access-tokens"].map((name) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8"));
const blocks = pages.flatMap((page) => [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => block));
const environment = { ...process.env, ANTHROPIC_BASE_URL: MODEL, ANTHROPIC_API_KEY: "k", OPENAI_BASE_URL: `${MODEL}/v1`, OPENAI_API_KEY: "k" };
const user = `ada-${crypto.randomUUID().slice(0, 8)}`;

const service = async (path) => (await fetch(`${SERVICE}/v1/users/${user}${path}`, { headers: { Authorization: `Bearer ${KEY}` } })).json();
const model = async (path, body) => (await fetch(`${MODEL}/_/${path}`, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })).json().catch(() => undefined);
const logOf = async (session) => (await service(`/sessions/${session}/events`)).events.map(({ event_type, content }) => [event_type, typeof content === "string" ? content : content.map(({ text }) => text).join("")]);

/** @returns what the program prints. */
async function run(number, typed = "") {
  const file = new URL(`page-${number}.mjs`, FOLDER);
  writeFileSync(file, transformSync(blocks[number].replaceAll('"ada"', `"${user}"`).replaceAll("new Neve()", PATIENT), { loader: "ts", target: "es2022" }).code);
  const child = spawn(process.execPath, [fileURLToPath(file)], { env: environment, stdio: ["pipe", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (printed[name] += text));
  child.stdin.end(typed);
  const [code] = await once(child, "close");
  assert.equal(code, 0, printed.stderr + printed.stdout);
  assert.equal(printed.stderr, "");
  return printed.stdout;
}

function tsc(...given) {
  const options = "--strict --noEmit --target es2022 --module nodenext --moduleResolution nodenext --types node".split(" ");
  try {
    execFileSync(process.execPath, [fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url)), ...options, ...given], { stdio: "pipe", encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  }
}

before(() => mkdirSync(FOLDER, { recursive: true }));
after(() => rmSync(FOLDER, { recursive: true }));

test("tsc --strict takes every program of the page, and a user's file", () => {
  const files = blocks.map((block, number) => {
    writeFileSync(new URL(`page-${number}.mts`, FOLDER), block);
    return fileURLToPath(new URL(`page-${number}.mts`, FOLDER));
  });
  tsc("--skipLibCheck", fileURLToPath(new URL("users_file.ts", import.meta.url)), ...files);
});

test("tsc --strict takes the declarations themselves, as a module and as CommonJS", () => {
  const files = ["mts", "cts"].map((ending) => {
    const file = new URL(`declarations.${ending}`, FOLDER);
    writeFileSync(file, `import { Neve, NeveError } from "@neve/sdk";\nimport { memoryHandlers } from "@neve/sdk/memory-tool";\nexport const made = [new Neve().user("ada").session("s1"), NeveError, memoryHandlers(new Neve(), "ada")];\n`);
    return fileURLToPath(file);
  });
  tsc(...files);
});

for (const [number, session, name] of [[0, "s1", "Anthropic"], [1, "s2", "OpenAI"]]) {
  test(`a chat with ${name} of at most ${MOST_LINES} lines remembers, and its second turn is cached`, async () => {
    const lines = blocks[number].split("\n").filter((line) => line.trim() && !line.trim().startsWith("//"));
    assert.ok(lines.length <= MOST_LINES, `${lines.length} lines`);
    await model("reset", {});
    const printed = await run(number, "I moved to Porto.\nWhere do I live?\n");
    const [first, second] = printed.trim().split("\n").map((line) => Number(/ (\d+)$/.exec(line)[1]));
    assert.equal(first, 0);
    assert.ok(second > 1024, printed);
    const { requests, refused } = await model("requests");
    assert.deepEqual([requests.length, refused], [2, []]);
    assert.deepEqual(await logOf(session), [
      ["user_message", "I moved to Porto."],
      ["assistant_response", "You said: I moved to Porto."],
      ["user_message", "Where do I live?"],
      ["assistant_response", "You said: Where do I live?"],
    ]);
  });
}

test("a prompt of one's own has the pack and what is recalled", async () => {
  const printed = await run(2);
  assert.match(printed, /You are a helpful assistant\.[^]*Where do I live\?/);
  assert.deepEqual(await logOf("s3"), [["user_message", "Where do I live?"]]);
});

test("Claude writes a file with its memory tool", async () => {
  await model("reset", {});
  await model("script", [{ tool_calls: [{ name: "memory", arguments: { command: "create", path: "/memories/home.md", file_text: "Lives in Porto.\n" } }] }, { text: "Noted." }]);
  assert.equal(await run(3), "Noted.\n");
  assert.equal((await service("/documents?path=/memories/home.md")).text, "Lives in Porto.\n");
});

test("the rest remembers and forgets", async () => {
  const printed = await run(4);
  assert.deepEqual(printed.trim().split("\n"), ["Ada is allergic to walnuts.", "none"]);
});

test("a token is its user's, and opens nothing of the tenant", async () => {
  const printed = await run(5);
  assert.deepEqual(printed.trim().split("\n"), ["true", "403 forbidden"]);
  assert.equal((await service("/memories")).memories.at(-1).text, "Ada keeps bees.");
});
