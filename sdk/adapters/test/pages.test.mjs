/* The programs of docs/frameworks, checked by tsc and run as they stand. NEVE_AI is the version of the AI SDK: 6 or 7. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { FRAMEWORKS, log, model, newUser, service } from "./neve.mjs";

const { NEVE_AI: VERSION = "6", NEVE_MODEL: MODEL } = process.env;
const here = fileURLToPath(new URL("..", import.meta.url));
const sdk = join(here, "..", "typescript");
const { transformSync } = createRequire(join(sdk, "package.json"))("esbuild");
const FOLDER = join(here, `.pages-${VERSION}`);
const LINKS = {
  "@neve/sdk": sdk,
  "@neve/ai-sdk": join(here, "ai-sdk"),
  "@neve/openai-agents": join(here, "openai-agents-typescript"),
  "@ai-sdk/anthropic": join(FRAMEWORKS, `@ai-sdk/anthropic-${VERSION}`),
  "@openai/agents": join(FRAMEWORKS, "@openai/agents"),
  "@types/node": join(sdk, "node_modules/@types/node"),
  zod: join(FRAMEWORKS, "zod"),
  ai: join(FRAMEWORKS, `ai-${VERSION}`),
};
const blocks = (name) => [...readFileSync(join(here, "..", "..", "docs", "frameworks", name), "utf8").matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => block);
/** The machine may be busy, and no program is about what a default budget cuts off. */
const PATIENT = "new Neve({ timeouts: { recall: 60_000, pack: 60_000, context: 60_000, append: 60_000, usage: 60_000 } })";
const ai = blocks("ai-sdk.md");
/** They know nothing of the AI SDK: once is enough. */
const agents = VERSION === "6" ? blocks("openai-agents-typescript.md") : [];
const user = newUser();
const environment = { ...process.env, ANTHROPIC_BASE_URL: `${MODEL}/v1`, ANTHROPIC_API_KEY: "k", OPENAI_BASE_URL: `${MODEL}/v1`, OPENAI_API_KEY: "k", OPENAI_AGENTS_DISABLE_TRACING: "1" };

/** @returns what the program prints. */
async function run(block, typed = "", ...more) {
  const file = join(FOLDER, `${crypto.randomUUID()}.mjs`);
  writeFileSync(file, transformSync(block.replaceAll('"ada"', `"${user}"`).replaceAll("new Neve()", PATIENT), { loader: "ts", target: "es2022" }).code + more.join("\n"));
  const child = spawn(process.execPath, [file], { env: environment, stdio: ["pipe", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (printed[name] += text));
  child.stdin.end(typed);
  const [code] = await once(child, "close");
  assert.equal(code, 0, printed.stderr + printed.stdout);
  return printed.stdout.trim();
}

before(() => {
  rmSync(FOLDER, { recursive: true, force: true });
  for (const [name, target] of Object.entries(LINKS)) {
    mkdirSync(dirname(join(FOLDER, "node_modules", name)), { recursive: true });
    symlinkSync(target, join(FOLDER, "node_modules", name));
  }
});
after(() => rmSync(FOLDER, { recursive: true }));
beforeEach(() => model("reset", {}));

test("tsc --strict takes every program of the pages", () => {
  const files = [...ai, ...agents].map((block, number) => {
    writeFileSync(join(FOLDER, `page-${number}.mts`), block);
    return join(FOLDER, `page-${number}.mts`);
  });
  const options = "--strict --noEmit --skipLibCheck --target es2022 --module nodenext --moduleResolution nodenext --types node".split(" ");
  try {
    execFileSync(process.execPath, [join(sdk, "node_modules/typescript/bin/tsc"), ...options, ...files], { cwd: FOLDER, stdio: "pipe", encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  }
});

test("a chat with a model of the AI SDK remembers, and its second turn is cached", async () => {
  const [first, second] = (await run(ai[0], "I moved to Porto.\nWhere do I live?\n")).split("\n").map((line) => Number(line.split(" ").at(-1)));
  assert.equal(first, 0);
  assert.ok(second > 1024, `${second}`);
  assert.deepEqual(await log(user, "s1", 4), [
    ["user_message", "I moved to Porto."],
    ["assistant_response", "You said: I moved to Porto."],
    ["user_message", "Where do I live?"],
    ["assistant_response", "You said: Where do I live?"],
  ]);
});

test("a route streams an answer, and what was said is told before it ends", async () => {
  await model("script", [{ text: "I look.", tool_calls: [{ name: "weather", arguments: { city: "Porto" } }] }, { text: "18 degrees." }]);
  const body = JSON.stringify({ id: "s2", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "How warm is Porto?" }] }] });
  const printed = await run(ai[1], "", `const answer = await POST(new Request("http://localhost/", { method: "POST", body: ${JSON.stringify(body)} }));`, "console.log(await answer.text()); process.exit();");
  assert.match(printed, /18 degrees\./);
  assert.deepEqual((await log(user, "s2", 4)).map(([type]) => type), ["user_message", "tool_call", "tool_result", "assistant_response"]);
});

test("without Neve the model answers, and the result says so", async () => {
  assert.equal(await run(ai[2]), 'You said: Hello. {"stale":true,"degraded":["unreachable"]}');
});

if (agents.length) {
  test("a chat with an agent remembers", async () => {
    await service("POST", `/users/${user}/memories`, { text: "Ada is allergic to walnuts." });
    assert.equal(await run(agents[0], "Which nuts am I allergic to?\nAnd figs?\n"), "You said: Which nuts am I allergic to?\nYou said: And figs?");
    const { requests, refused } = await model("requests");
    assert.deepEqual(refused, []);
    assert.match(requests[0].instructions, /^You are a helpful assistant\.[^]*walnuts/);
    assert.match(JSON.stringify(requests[1].input.at(-1)), /<neve-session>/);
    assert.ok(!JSON.stringify(requests[1].input.slice(0, -1)).includes("<neve-"));
  });

  test("a history is written without a run", async () => {
    assert.equal(await run(agents[1]), '[{"role":"user","content":"I live in Porto."},{"role":"user","content":"Hello."}]');
  });
}
