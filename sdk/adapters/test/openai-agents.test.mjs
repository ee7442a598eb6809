/* The session against the framework's own MemorySession: the same calls, the same answers. */
import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { NeveSession } from "../openai-agents-typescript/dist/index.js";
import { client, events, framework, model, newUser, proxy, sent, service, unreachable } from "./neve.mjs";

const { Agent, MemorySession, OpenAIProvider, Runner, run, setTracingDisabled, tool, version } = await framework("@openai/agents");
const { ScriptedModel, assistantMessage, functionCall } = await framework("@openai/agents-core", "testing");
setTracingDisabled(true);

const LARGE = Array.from({ length: 20_000 }, (_, n) => `line ${n} of a long text\n`).join("");
const PICTURE = `data:image/png;base64,${"iVBORw0KGgo".repeat(40_000)}`;
const user = (content, more = {}) => ({ type: "message", role: "user", content, ...more });
const assistant = (text, more = {}) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }], ...more });
const call = (callId, more = {}) => ({ type: "function_call", callId, name: "look", status: "completed", arguments: '{"city":"Porto"}', ...more });
const result = (callId, output = { type: "text", text: "18" }) => ({ type: "function_call_result", callId, name: "look", status: "completed", output });
const thought = { type: "reasoning", id: "rs_1", content: [{ type: "input_text", text: "Hm." }], rawContent: [{ type: "reasoning_text", text: "Hm, hm." }], providerData: { encrypted_content: "opaque" } };
const ITEMS = {
  "a text": user("hi"),
  "a blank text": user("  "),
  "parts": user([{ type: "input_text", text: "two" }, { type: "input_text", text: "parts", promptCacheBreakpoint: { mode: "explicit" } }], { providerData: { a: [1, { b: null }] } }),
  "an image by address": user([{ type: "input_text", text: "look" }, { type: "input_image", image: "https://example.com/a.png", detail: "low" }]),
  "a large image": user([{ type: "input_image", image: PICTURE }]),
  "a file": user([{ type: "input_file", file: { id: "file_1" }, filename: "a.pdf" }]),
  "a large text": user(LARGE),
  "a large text of three bytes a sign": user("雪".repeat(150_000)),
  "signs that no text may hold": user("half a pair \ud83d, and a zero \x00, and \x9f."),
  "what Neve renders": user("<neve-memory>quoted</neve-memory>"),
  "a system message": { type: "message", role: "system", content: "Be brief." },
  "an answer": assistant("So it is.", { id: "msg_1", providerData: { annotations: [] } }),
  "a refusal": { type: "message", role: "assistant", status: "completed", content: [{ type: "refusal", refusal: "No." }] },
  "a sound": { type: "message", role: "assistant", status: "completed", content: [{ type: "audio", audio: "AAAA", transcript: "Yes." }] },
  "a thought": thought,
  "a call": call("c1", { id: "fc_1", namespace: "n" }),
  "its result": result("c1"),
  "a result of parts": result("c1", [{ type: "input_text", text: "again" }, { type: "input_image", image: "https://example.com/b.png" }]),
  "a call whose arguments are no JSON": call("c2", { arguments: "no JSON" }),
  "a call without a name": call("", { name: "" }),
  "a large result": result("nobody's", LARGE),
  "a hosted call": { type: "hosted_tool_call", name: "web_search_call", id: "ws_1", status: "completed", arguments: "{}", output: "found" },
  "a computer's screenshot": { type: "computer_call_result", callId: "c3", output: { type: "computer_screenshot", data: "data:image/png;base64,AAAA" } },
  "a shell's output": { type: "shell_call_output", callId: "c4", output: [{ stdout: "a\n", stderr: "", outcome: { type: "exit", exitCode: 0 } }] },
  "an item of an unknown kind": { type: "unknown", id: "u_1", providerData: { type: "of_tomorrow", deep: { list: [1, null, { "": true }] } } },
  "an item of tomorrow": { type: "of_tomorrow", deep: { list: [1, null, { "": "x" }] }, content: 3 },
  "no role": { content: "without a role" },
  "bytes": user([{ type: "input_image", image: new Uint8Array([0, 1, 254, 255]) }]),
};
const SMALL = Object.values(ITEMS).filter((item) => JSON.stringify(item).length < 10_000);
const own = (neve, name, options) => new NeveSession(neve, name, "s1", { timeoutMs: 20_000, onError: () => undefined, ...options });

/** Of these, what the reference takes in a transaction. */
const VALID = [];
for (const item of SMALL) await new MemorySession().applyHistoryTransaction({ operationId: "a", transaction: { type: "append_items", items: [item] } }).then(() => VALID.push(item), () => undefined);

before(() => console.log(`# @openai/agents ${version}`));
beforeEach(() => proxy("heal", {}));

for (const [name, item] of Object.entries(ITEMS)) {
  test(`an item comes back whole in another process: ${name}`, async () => {
    const someone = newUser();
    await own(client(), someone).addItems([item]);
    assert.deepEqual(await own(client(), someone).getItems(), [item]);
    const session = own(client(), someone);
    assert.deepEqual(await session.popItem(), item);
    await session.flush();
    assert.deepEqual(await own(client(), someone).getItems(), []);
  });
}

/** Numbers from 0 to below 1 that a seed decides. */
function drawing(seed) {
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
}

/** What a limit is to give: the shortest end of at least so many items that has the call of each result, and the thought before it. */
function cleanEnd(items, limit) {
  if (limit <= 0) return [];
  for (let start = Math.max(0, items.length - limit); start > 0; start--) {
    const [before, shown] = [items.slice(0, start), items.slice(start)];
    const called = new Set(before.filter(({ type }) => !/_(result|output)$/.test(type)).flatMap(({ callId }) => callId || []));
    const cut = shown.some(({ type, callId }) => /_(result|output)$/.test(type) && called.has(callId));
    if (!cut && before.at(-1).type !== "reasoning") return shown;
  }
  return items;
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`the same calls have the same answers, by seed ${seed}`, async () => {
    const [draw, someone, neve] = [drawing(seed), newUser(), client()];
    const one = (list) => list[Math.floor(draw() * list.length)];
    let ours = own(neve, someone);
    const theirs = new MemorySession({ sessionId: "s1" });
    const outcome = (session, work) => work(session).then((value) => ({ value }), () => ({ refused: true }));
    const both = async (work) => assert.deepEqual(...(await Promise.all([outcome(ours, work), outcome(theirs, work)])));
    const transactions = [];
    for (let n = 0; n < 40; n++) {
      const added = Array.from({ length: Math.floor(draw() * 4) }, () => one(VALID));
      const what = one(["add", "add", "add", "pop", "pop", "get", "limit", "flush", "append", "replace", "again", "new", "clear"]);
      if (what === "add") await both((session) => session.addItems(added));
      else if (what === "pop") await both((session) => session.popItem());
      else if (what === "get") await both((session) => session.getItems());
      else if (what === "limit") {
        const limit = one([-1, 0, 1, 2, 3, 7, 50]);
        assert.deepEqual(await ours.getItems(limit), cleanEnd(await theirs.getItems(), limit));
      } else if (what === "flush") await ours.flush();
      else if (what === "append") {
        transactions.push({ operationId: `op ${n}`, transaction: { type: "append_items", items: added } });
        await both((session) => session.applyHistoryTransaction(transactions.at(-1)));
      } else if (what === "replace") {
        const expectedSuffix = (await theirs.getItems()).slice(draw() < 0.8 ? -Math.ceil(draw() * 3) : 1);
        transactions.push({ operationId: `op ${n}`, transaction: { type: "replace_suffix", expectedSuffix, replacement: added } });
        await both((session) => session.applyHistoryTransaction(transactions.at(-1)));
      } else if (what === "again" && transactions.length) {
        const again = one(transactions);
        if (draw() < 0.5) await both((session) => session.applyHistoryTransaction(again));
        else await both((session) => session.applyHistoryTransaction({ operationId: again.operationId, transaction: { type: "append_items", items: [user("another")] } }));
      } else if (what === "new") {
        await ours.flush();
        ours = own(client(), someone);
      } else if (what === "clear" && draw() < 0.4) {
        await both((session) => session.clearSession());
        transactions.length = 0; // Neve knows them still, the reference does not
      }
    }
    await both((session) => session.getItems());
  });
}

test("several pops are one retraction", async () => {
  const someone = newUser();
  const session = own(client(), someone);
  await session.addItems(Array.from({ length: 9 }, (_, n) => user(`number ${n}`)));
  await proxy("heal", {});
  for (const n of [8, 7, 6, 5]) assert.deepEqual(await session.popItem(), user(`number ${n}`));
  await session.addItems([user("another")]);
  assert.deepEqual(await sent(someone), ["GET /events", "POST /events/retract", "POST /events"]);
  assert.deepEqual((await events(someone, "s1")).map(({ seq }) => seq), [1, 2, 3, 4, 5, 10]);
});

test("pops alone are one retraction as well", async () => {
  const someone = newUser();
  const session = own(client(), someone);
  await session.addItems([user("one"), user("two"), user("three")]);
  await proxy("heal", {});
  await session.popItem();
  await session.popItem();
  for (const until = Date.now() + 20_000; (await events(someone, "s1")).length > 1 && Date.now() < until; );
  assert.deepEqual(await sent(someone), ["GET /events", "POST /events/retract"]);
});

test("a cleared session is erased each time", async () => {
  const someone = newUser();
  const session = own(client(), someone);
  await session.clearSession();
  for (const text of ["first secret", "second secret"]) {
    await session.addItems([user(text)]);
    await session.clearSession();
    assert.deepEqual([await session.getItems(), await session.popItem()], [[], undefined]);
  }
  assert.ok((await service("GET", `/users/${someone}/sessions/s1/events`)).events.every(({ erased, retracted }) => erased || retracted));
});

test("a compaction stands in the place of what it holds, and memory keeps that", async () => {
  const someone = newUser();
  const session = own(client(), someone);
  await session.addItems([user("I live in Porto."), assistant("Noted.")]);
  const compacted = [{ type: "compaction", encrypted_content: "opaque" }, user("I live in Porto.")];
  await session.replaceHistoryWithCompaction(compacted);
  await session.addItems([user("And now?")]);
  assert.deepEqual(await own(client(), someone).getItems(), [...compacted, user("And now?")]);
  for (const item of [user("And now?"), ...compacted.toReversed(), undefined]) assert.deepEqual(await session.popItem(), item);
  await session.flush();
  assert.deepEqual((await events(someone, "s1")).filter(({ event_type }) => event_type !== "neutral").map(({ content }) => content), ["I live in Porto.", "Noted."]);
});

test("a conversation that was deleted elsewhere is empty, and what is said in it says so", async () => {
  const someone = newUser();
  const session = own(client(), someone);
  await session.addItems([user("hi")]);
  await service("DELETE", `/users/${someone}/sessions/s1`);
  await session.addItems([user("still there?")]);
  assert.deepEqual([session.degraded, session.kept], [["session_deleted"], 0]);
  assert.deepEqual([await session.getItems(), await session.popItem()], [[], undefined]);
});

test("a long conversation is read and popped in pages", async () => {
  const someone = newUser();
  const session = own(client(), someone);
  const items = Array.from({ length: 230 }, (_, n) => user(`number ${n}`));
  await session.addItems(items);
  await proxy("heal", {});
  assert.deepEqual([await session.getItems(), await session.getItems(5)], [items, items.slice(-5)]);
  for (let n = 229; n >= 10; n--) assert.deepEqual(await session.popItem(), items[n]);
  await session.flush();
  assert.deepEqual(await sent(someone), [...Array(4).fill("GET /events"), "POST /events/retract", "GET /events", "POST /events/retract"]);
  assert.deepEqual(await session.getItems(), items.slice(0, 10));
});

test("what others appended is read as items", async () => {
  const someone = newUser();
  await service("POST", `/users/${someone}/sessions/s1/messages`, { messages: [
    { role: "user", content: "How warm is it?" },
    { role: "assistant", content: [{ type: "text", text: "I look." }, { type: "tool_use", id: "t1", name: "look", input: { city: "Porto" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "18" }] },
    { role: "assistant", content: "18." },
  ] });
  assert.deepEqual(await own(client(), someone).getItems(), [user("How warm is it?"), assistant("I look."), call("t1"), result("t1"), assistant("18.")]);
});

const look = tool({ name: "look", description: "Look at the weather.", strict: false, parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: true }, execute: ({ city }) => `18 degrees in ${city}` });
const script = () => new ScriptedModel([...[0, 1, 2, 3].map((n) => [functionCall("look", { city: `place ${n}` }, { callId: `c${n}` })]), [assistantMessage("18 everywhere.")], [assistantMessage("As I said.")]]);

for (const stream of [false, true]) {
  for (const filtered of [false, true]) {
    test(`runs of the framework ${stream ? "as streams" : ""} leave what its own session holds${filtered ? ", with memory in their prompts" : ""}`, async () => {
      const someone = newUser();
      await service("POST", `/users/${someone}/memories`, { text: "Ada is allergic to walnuts." });
      const seen = [];
      for (const session of [own(client(), someone), new MemorySession()]) {
        const scripted = script();
        const agent = new Agent({ name: "a", instructions: "You look.", model: scripted, tools: [look] });
        for (const text of ["How warm is it?", "Really?"]) {
          await proxy("heal", {});
          const options = { session, stream, ...(filtered && session.memory && { callModelInputFilter: session.memory }) };
          const done = await new Runner().run(agent, text, options);
          if (stream) await done.completed;
        }
        if (session.memory && !filtered) assert.deepEqual(await sent(someone), ["GET /events", "POST /events"]);
        seen.push(JSON.parse(JSON.stringify([await session.getItems(), scripted.calls.length])));
        if (filtered && session.memory) {
          const prompts = scripted.calls.map(({ request }) => request);
          prompts.slice(0, 5).forEach(({ systemInstructions, input }) => {
            assert.equal(systemInstructions, prompts[0].systemInstructions);
            assert.deepEqual(input[0], prompts[0].input[0]);
          });
          assert.match(prompts[0].systemInstructions, /^You look\.[^]*walnuts/);
          assert.match(JSON.stringify(prompts[0].input[0]), /<neve-session>/);
        }
      }
      assert.deepEqual(...seen);
      assert.ok(!JSON.stringify(await events(someone, "s1")).includes("<neve-"));
    });
  }
}

test("a run of five steps has the same beginning in every step, is cached, and reads once and writes once", async () => {
  const someone = newUser();
  await model("reset", {});
  await model("script", [0, 1, 2, 3].map((n) => ({ tool_calls: [{ name: "look", arguments: { city: `place ${n}` } }] })).concat([{ text: "18." }]));
  const session = own(client(), someone);
  await session.addItems([user("Hello."), assistant("Hi.")]);
  await proxy("heal", {});
  const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey: "k", baseURL: `${process.env.NEVE_MODEL}/v1`, useResponses: true }), callModelInputFilter: session.memory });
  const agent = new Agent({ name: "a", instructions: "You look. ".repeat(600), model: "gpt-5", tools: [look] });
  const { rawResponses } = await runner.run(agent, "How warm is it?", { session });
  assert.deepEqual(await sent(someone), ["GET /events", "POST /context", "POST /events"]);
  const { requests, refused } = await model("requests");
  assert.deepEqual([requests.length, refused], [5, []]);
  requests.slice(1).forEach(({ instructions, input }, n) => {
    assert.equal(instructions, requests[n].instructions);
    assert.ok(JSON.stringify(input).startsWith(JSON.stringify(requests[n].input).slice(0, -1)));
  });
  for (const { usage } of rawResponses.slice(1)) assert.ok(JSON.stringify(usage.inputTokensDetails).match(/"cached_tokens":(\d+)/)?.[1] > 1024, JSON.stringify(usage));
});

test("while Neve is down the chat goes on, says so, and what was said is appended later, once", async () => {
  const someone = newUser();
  const session = own(client(), someone);
  await session.addItems([user("One."), assistant("1.")]);
  await session.getItems();
  await proxy("fault", { match: `POST .*${someone}`, do: "lose" });
  await proxy("fault", { match: `GET .*${someone}`, do: "answer", status: 503, body: { code: "unavailable", title: "down" } });
  await session.addItems([user("Two.")]);
  assert.deepEqual([session.degraded, session.kept], [["unreachable"], 1]);
  assert.deepEqual(await session.getItems(), [user("One."), assistant("1."), user("Two.")]);
  await session.addItems([assistant("2.")]);
  await proxy("heal", {});
  for (const until = Date.now() + 30_000; session.kept && Date.now() < until; ) await new Promise((wake) => setTimeout(wake, 100));
  const all = [user("One."), assistant("1."), user("Two."), assistant("2.")];
  assert.deepEqual([await session.getItems(), await own(client(), someone).getItems(), session.degraded], [all, all, []]);
});

test("without Neve an agent answers, and a strict session throws", async () => {
  const session = own(unreachable(), newUser());
  const agent = () => new Agent({ name: "a", instructions: "You look.", model: script(), tools: [look] });
  const { finalOutput } = await run(agent(), "How warm is it?", { session, callModelInputFilter: session.memory });
  assert.equal(finalOutput, "18 everywhere.");
  assert.deepEqual(session.degraded, ["unreachable"]);
  await assert.rejects(run(agent(), "How warm is it?", { session: own(unreachable({ strict: true }), newUser(), { strict: true }) }), /cannot be reached/);
});

test("a change of the history that is none is refused with words", async () => {
  const session = own(client(), newUser());
  await assert.rejects(session.applyHistoryTransaction({ operationId: " ", transaction: { type: "append_items", items: [] } }), /operationId must be/);
  await assert.rejects(session.applyHistoryTransaction({ operationId: "a", transaction: { type: "prepend" } }), /"append_items" or "replace_suffix"/);
  await assert.rejects(session.applyHistoryTransaction({ operationId: "a", transaction: { type: "replace_suffix", expectedSuffix: [user("x")], replacement: [] } }), /not what the transaction expects/);
});
