/* An outage under a running chat, and the end of a process in it. NEVE_PROXY stands before the service. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Neve } from "../dist/index.js";
import { steer } from "./scene.mjs";

const { NEVE_URL: SERVICE, NEVE_KEY: KEY, NEVE_PROXY: PROXY } = process.env;
const PATIENCE_MS = 300_000;

async function logOf(user) {
  const answer = await fetch(`${SERVICE}/v1/users/${user}/sessions/s1/events?limit=200`, { headers: { Authorization: `Bearer ${KEY}` } });
  return answer.status === 404 ? [] : (await answer.json()).events.map(({ content }) => content);
}

async function comesTo(user, wanted) {
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(100)) {
    const found = await logOf(user);
    if (JSON.stringify(found) === JSON.stringify(wanted)) return;
    assert.ok(performance.now() < until, `in the log: ${JSON.stringify(found)}`);
  }
}

const FAULTS = { gone: { do: "refuse" }, "answers lost": { do: "lose" }, slow: { do: "delay", ms: 60_000 }, failing: { do: "answer", status: 503, headers: { "Content-Type": "text/html" }, body: "<h1>503</h1>" } };

for (const [name, fault] of Object.entries(FAULTS)) {
  test(`a chat goes on while the service is ${name}, and all of it is appended afterwards, once`, async () => {
    await steer("heal", {});
    const user = `outage-${crypto.randomUUID()}`;
    const patient = 20_000; // a machine with far too much to do answers late, too
    const timeouts = { recall: patient, pack: patient, context: patient, append: patient, usage: patient };
    const within = { timeoutMs: patient };
    const neve = new Neve({ baseUrl: PROXY, apiKey: KEY, timeouts, lingerMs: 200, onError: () => undefined });
    const s = neve.user(user).session("s1");
    const said = [];
    const turn = async (n) => {
      const prompt = await s.turn(`question ${n}`, within);
      said.push(`question ${n}`, `answer ${n}`);
      await s.append({ role: "assistant", content: `answer ${n}` }, within);
      await s.usage({ model: "claude-sonnet-5", usage: { input_tokens: 1, output_tokens: 1 } }, within);
      return prompt;
    };
    const roles = ({ messages }) => messages.map(({ role }) => role);
    const before = await turn(1);
    const pack = await s.pack(within);
    assert.equal(before.stale, false);
    assert.equal(pack.stale, false);

    await steer("fault", { match: ".", ...fault });
    if (name === "slow") within.timeoutMs = 300;
    for (const n of [2, 3, 4]) {
      const prompt = await turn(n);
      assert.equal(prompt.stale, true);
      assert.deepEqual(prompt.system, before.system);
      assert.deepEqual(roles(prompt), Array.from({ length: 2 * n - 1 }, (_, at) => ["user", "assistant"][at % 2]));
      const meanwhile = await s.pack(within);
      assert.deepEqual([meanwhile.text, meanwhile.etag, meanwhile.stale], [pack.text, pack.etag, true]);
      assert.deepEqual([...(await s.recall("question", within))], []);
    }
    assert.ok(s.kept >= 1, `${s.kept} messages are kept`);

    await steer("heal", {});
    within.timeoutMs = patient;
    await comesTo(user, said); // nobody calls anything: what is kept goes by itself
    const after = await turn(5);
    assert.equal(after.stale, false);
    assert.deepEqual(await neve.close(), { kept: 0 });
    await comesTo(user, said);
  });
}

test("a process that is killed in an outage loses no more than it has called kept", async () => {
  await steer("heal", {});
  const user = `killed-${crypto.randomUUID()}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", KILLED], {
    cwd: new URL("..", import.meta.url),
    env: { ...process.env, NEVE_URL: PROXY, THE_USER: user },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = child.stdout.setEncoding("utf8")[Symbol.asyncIterator]();
  const told = async (typed) => {
    child.stdin.write(`${typed}\n`);
    return JSON.parse((await lines.next()).value);
  };
  assert.deepEqual(await told("one"), { appended: 1, kept: 0 });
  await steer("fault", { match: ".", do: "refuse" });
  assert.deepEqual(await told("two"), { appended: 0, kept: 1 });
  assert.deepEqual(await told("three"), { appended: 0, kept: 2 });
  child.kill("SIGKILL");
  await once(child, "exit");
  await steer("heal", {});
  assert.deepEqual(await logOf(user), ["one"]);
});

const KILLED = `
import { createInterface } from "node:readline";
import { Neve } from "./dist/index.js";
const s = new Neve({ onError: () => undefined, timeouts: { append: 60_000 } }).user(process.env.THE_USER).session("s1");
for await (const line of createInterface({ input: process.stdin })) {
  const { appended, kept } = await s.append(line);
  process.stdout.write(JSON.stringify({ appended, kept }) + "\\n");
}
`;
