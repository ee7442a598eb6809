/* What needs no service: a fetch of its own answers. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";
import { Neve, NeveBadRequest, NeveConnection, NeveError, NeveQuota } from "../dist/index.js";

const json = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers: { "Content-Type": status < 400 ? "application/json" : "application/problem+json", "X-Request-Id": "r1", ...headers } });
const problem = (status, code, more = {}, headers = {}) => json(status, { type: `urn:neve:problem:${code}`, title: code, status, detail: code, code, request_id: "r1", ...more }, headers);
const taken = ({ messages }, seq = 1) => ({ session_id: "s", created: false, messages: messages.map(({ id }, at) => ({ id, state: "appended", seqs: [seq + at] })), last_seq: seq, dropped: [] });

/** A client, and what it has sent. */
function asked(answer, options = {}) {
  const sent = [];
  const fetch = async (url, init) => {
    const call = { line: `${init.method} ${new URL(url).pathname}`, url: new URL(url), headers: init.headers, body: init.body === undefined ? undefined : JSON.parse(init.body) };
    sent.push(call);
    return answer(call, sent.length);
  };
  return { neve: new Neve({ apiKey: "k", lingerMs: 0, onError: () => undefined, fetch, ...options }), sent };
}

test("making users and sessions asks nothing", () => {
  const { neve, sent } = asked(() => json(200, {}));
  neve.user("ada").session("s1");
  assert.deepEqual(sent, []);
});

test("ids are encoded in paths", async () => {
  const { neve, sent } = asked(({ body }) => json(201, taken(body)));
  await neve.user("a b&c").session("ü s").append("hi");
  assert.equal(sent[0].url.pathname, "/v1/users/a%20b%26c/sessions/%C3%BC%20s/messages");
});

test("an error has its class, code, fields, request and pause, and says each once", async () => {
  const errors = [{ field: "query", message: "must not be blank" }];
  const { neve } = asked((_, n) => (n === 1 ? problem(422, "validation_failed", { errors, detail: "query: must not be blank" }) : problem(429, "throttled", {}, { "Retry-After": "7" })));
  const bad = await neve.raw.recall("ada", { query: "" }).catch((error) => error);
  assert.ok(bad instanceof NeveBadRequest && bad instanceof NeveError && bad instanceof Error);
  assert.deepEqual([bad.name, bad.code, bad.status, bad.errors, bad.requestId, bad.message], ["NeveBadRequest", "validation_failed", 422, errors, "r1", "query: must not be blank"]);
  const much = await neve.raw.recall("ada", { query: "x" }, { timeoutMs: 1000 }).catch((error) => error);
  assert.ok(much instanceof NeveQuota);
  assert.equal(much.retryAfter, 7);
});

test("a call ends within its budget, whatever the service does", async () => {
  const never = (_, init) => new Promise((_, reject) => init.signal.addEventListener("abort", () => reject(init.signal.reason)));
  const neve = new Neve({ apiKey: "k", fetch: never, timeouts: { recall: 50, pack: 50, append: 50, context: 50, usage: 50 }, lingerMs: 0, onError: () => undefined });
  const s = neve.user("ada").session("s1");
  // Answers that never come keep no process alive: something has to, until the budgets are over.
  const alive = setInterval(() => undefined, 1000);
  try {
    assert.deepEqual((await s.recall("x")).degraded, ["timeout"]);
    assert.deepEqual((await s.pack()).degraded, ["timeout"]);
    assert.deepEqual((await s.append("x")).degraded, ["timeout"]);
    const { degraded, messages, stale } = await s.turn("y");
    assert.deepEqual([degraded, messages, stale], [["timeout"], [{ role: "user", content: [{ type: "text", text: "x" }, { type: "text", text: "y" }] }], true]);
  } finally {
    clearInterval(alive);
    s.drop();
  }
});

test("strict throws in the chat", async () => {
  const { neve } = asked(() => { throw new TypeError("fetch failed"); }, { strict: true });
  await assert.rejects(neve.user("ada").session("s1").recall("x"), (error) => error instanceof NeveConnection && error.code === "unreachable");
});

test("a repeated write has the same key, and only writes have one", async () => {
  const { neve, sent } = asked(({ body }, n) => (n === 1 ? problem(503, "store_unavailable", {}, { "Retry-After": "0" }) : json(201, taken(body))));
  await neve.user("ada").session("s1").append("hi");
  assert.equal(sent.length, 2);
  assert.ok(sent[0].headers["Idempotency-Key"]);
  assert.equal(sent[0].headers["Idempotency-Key"], sent[1].headers["Idempotency-Key"]);
  const reads = asked(() => json(200, { hits: [], injection_text: "", degraded: [] }));
  await reads.neve.user("ada").session("s1").recall("x");
  assert.equal(reads.sent[0].headers["Idempotency-Key"], undefined);
});

test("what is spread into a provider's client is the request alone", async () => {
  const request = { system: [{ type: "text", text: "pack" }], messages: [{ role: "user", content: "hi" }] };
  const { neve } = asked(({ body }) => json(200, { appended: taken(body), prompt: { request, prompt_id: "p1", degraded: [], report: { used: 3 } } }));
  const prompt = await neve.user("ada").session("s1").turn("hi");
  assert.deepEqual({ ...prompt }, request);
  assert.deepEqual([prompt.request, prompt.promptId, prompt.stale, prompt.degraded, prompt.report], [request, "p1", false, [], { used: 3 }]);
});

test("a turn is one call, which carries the answer before it", async () => {
  const { neve, sent } = asked(({ body }) => json(200, { appended: taken(body), prompt: { request: { messages: [] }, degraded: [] } }), { lingerMs: 5000 });
  const s = neve.user("ada").session("s1", { title: "T", userMeta: { name: "Ada" } });
  await s.turn("one");
  await s.append({ role: "assistant", content: "two" });
  await s.turn("three", { format: "openai", maxBreakpoints: 2 });
  assert.deepEqual(sent.map(({ line }) => line), ["POST /v1/users/ada/sessions/s1/turn", "POST /v1/users/ada/sessions/s1/turn"]);
  assert.deepEqual(sent[1].body.messages.map(({ content }) => content), ["two", "three"]);
  assert.deepEqual([sent[1].body.compile, sent[1].body.title, sent[1].body.user_meta], [{ format: "openai", max_breakpoints: 2 }, "T", { name: "Ada" }]);
});

test("messages of one call become at most 48 events, and one MiB", async () => {
  const { neve, sent } = asked(({ body }) => json(201, taken(body)));
  const s = neve.user("ada").session("s1");
  const results = Array.from({ length: 20 }, (_, n) => ({ type: "tool_result", tool_use_id: `t${n}`, content: "x" }));
  await s.append(Array.from({ length: 5 }, () => ({ role: "user", content: results })));
  assert.deepEqual(sent.map(({ body }) => body.messages.length), [2, 2, 1]);
  sent.length = 0;
  await s.append(Array.from({ length: 5 }, (_, n) => ({ role: "user", content: `${n}`.repeat(250_000) })));
  assert.deepEqual(sent.map(({ body }) => body.messages.length), [3, 2]);
});

test("answers of the providers' clients are understood", async () => {
  const { neve, sent } = asked(({ body }) => json(201, taken(body)));
  const s = neve.user("ada").session("s1");
  await s.append({ id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5", content: [{ type: "text", text: "a" }], usage: {} });
  await s.append({ id: "chatcmpl-1", object: "chat.completion", choices: [{ index: 0, message: { role: "assistant", content: "b", refusal: null } }] });
  await s.append({ id: "resp_1", object: "response", output: [{ id: "rs_1", type: "reasoning", summary: [] }, { id: "msg_2", type: "message", role: "assistant", content: [{ type: "output_text", text: "c" }] }] });
  await s.append({ text: "d", response: { messages: [{ role: "assistant", content: [{ type: "text", text: "d" }] }] } });
  const said = sent.flatMap(({ body }) => body.messages).map(({ role, type, content, id }) => [role ?? type, typeof content === "string" ? content : content?.[0].text, /^(rs_1|msg_2)$/.test(id)]);
  assert.deepEqual(said, [["assistant", "a", false], ["assistant", "b", false], ["reasoning", undefined, true], ["assistant", "c", true], ["assistant", "d", false]]);
});

test("tokens of every provider are counted", async () => {
  const { neve } = asked(() => json(200, {}));
  const s = neve.user("ada").session("s1");
  const counts = async (response) => {
    const { input, cacheRead, cacheWrite, output, hitRate } = await s.usage(response);
    return [input, cacheRead, cacheWrite, output, hitRate];
  };
  assert.deepEqual(await counts({ usage: { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 5 } }), [10, 30, 20, 5, 0.5]);
  assert.deepEqual(await counts({ usage: { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } } }), [40, 60, 0, 5, 0.6]);
  assert.deepEqual(await counts({ usage: { input_tokens: 100, output_tokens: 5, input_tokens_details: { cached_tokens: 25 } } }), [75, 25, 0, 5, 0.25]);
  assert.deepEqual(await counts({ usage: { inputTokens: 100, outputTokens: 5, cachedInputTokens: 50 } }), [50, 50, 0, 5, 0.5]);
  assert.deepEqual(await counts({ usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 5, cachedContentTokenCount: 50 } }), [50, 50, 0, 5, 0.5]);
});

test("a message in a provider's form is compiled as text and images", async () => {
  const { neve, sent } = asked(() => json(200, { request: { messages: [] }, degraded: [] }));
  const s = neve.user("ada").session("s1");
  const images = [
    { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
    { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
    { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
    { type: "input_image", image_url: "https://example.org/a.png" },
  ];
  for (const image of images) await s.context({ role: "user", content: [{ type: "text", text: "What is this?" }, image] });
  const [data, url] = [{ type: "image", media_type: "image/png", data: "aGk=" }, { type: "image", url: "https://example.org/a.png" }];
  assert.deepEqual(sent.map(({ body }) => body.message[1]), [data, url, data, url]);
  assert.deepEqual(sent[0].body.message[0], { type: "text", text: "What is this?" });
});

test("what cannot be taken back is said, and what is said instead is appended all the same", async () => {
  const { neve } = asked(({ line, body }) => (line.startsWith("GET") ? json(200, { events: [] }) : json(201, taken(body))));
  const { appended, degraded } = await neve.user("ada").session("s1").edit("nobody-knows-it", "instead");
  assert.deepEqual([appended, degraded], [1, ["unknown_id"]]);
});

test("a message that nobody takes is refused alone, whether or not the service says which it is", async () => {
  const bad = ({ content }) => content === "bad";
  const named = asked(({ body: { messages } }) => {
    const at = messages.findIndex(bad);
    return at < 0 ? json(201, taken({ messages })) : problem(422, "validation_failed", { errors: [{ field: `messages[${at}].content`, message: "is bad" }], detail: `messages[${at}].content: is bad` });
  });
  const unnamed = asked(({ body: { messages } }) => (messages.some(bad) ? problem(422, "validation_failed") : json(201, taken({ messages }))));
  for (const { neve } of [named, unnamed]) {
    const { appended, refused, kept, degraded, messages } = await neve.user("ada").session("s1").append(["one", "bad", "two"]);
    assert.deepEqual([appended, refused, kept, degraded], [2, 1, 0, ["validation_failed"]]);
    assert.deepEqual(messages.map(({ state }) => state), ["appended", "refused", "appended"]);
  }
});

test("a prompt without the service begins with the last pack and goes on with what is known, in every format", async () => {
  let down = false;
  const { neve } = asked(({ line, body }) => {
    if (down) throw new TypeError("fetch failed");
    return line.startsWith("GET") ? json(200, { state: "ready", text: "The pack.", pack_version: 1 }, { ETag: '"e-j"' }) : json(201, taken(body));
  });
  const s = neve.user("ada").session("s1");
  await s.append(["one", { role: "assistant", content: "two" }]);
  await s.pack();
  down = true;
  const said = [{ role: "user", content: "one" }, { role: "assistant", content: "two" }, { role: "user", content: "three" }];
  const system = "You bake.\n\nThe pack.";
  const tools = [{ name: "t" }];
  const context = async (format) => ({ ...(await s.context("three", { format, system: "You bake.", tools })) });
  assert.deepEqual(await context("anthropic"), { system: [{ type: "text", text: system, cache_control: { type: "ephemeral" } }], messages: said, tools });
  assert.deepEqual(await context("openai"), { messages: [{ role: "system", content: system }, ...said], tools });
  assert.deepEqual(await context("openai_responses"), { instructions: system, input: said, tools });
  assert.deepEqual(await context("ai_sdk"), { instructions: system, messages: said, tools });
  const parts = [["user", "one"], ["model", "two"], ["user", "three"]].map(([role, text]) => ({ role, parts: [{ text }] }));
  assert.deepEqual(await context("gemini"), { system_instruction: { parts: [{ text: system }] }, contents: parts, tools });
});

test("a list may be the whole chat, whatever the provider has added to its own messages", async () => {
  const { neve, sent } = asked(({ body }) => json(201, taken(body)));
  const s = neve.user("ada").session("s1");
  await s.append([{ role: "user", content: "one" }, { role: "assistant", content: "two", refusal: null, annotations: [] }]);
  const chat = [{ role: "user", content: "one" }, { role: "assistant", content: "two" }, { role: "user", content: [{ type: "text", text: "three", cache_control: { type: "ephemeral" } }] }];
  const { appended, known } = await s.append(chat);
  assert.deepEqual([appended, known, sent[1].body.messages.length], [1, 2, 1]);
});

test("the memory operations are told to OpenTelemetry where it is there", async () => {
  const spans = [];
  const registered = Symbol.for("opentelemetry.js.api.1");
  const span = (name) => ({ end: () => spans.push(name), setAttribute: (key, value) => spans.push([key, value]), setStatus: () => undefined });
  globalThis[registered] = { trace: { getTracer: () => ({ startSpan: span }) } };
  try {
    const { neve } = asked(({ line, body }) => (line.endsWith("/recall") ? json(200, { hits: [], injection_text: "", degraded: [] }) : line.endsWith("/messages") ? json(201, taken(body)) : problem(404, "memory_not_found")));
    await neve.user("ada").session("s1").recall("x");
    await neve.user("ada").session("s1").append("x");
    await neve.user("ada").forget("mem_1").catch(() => undefined);
    assert.deepEqual(spans, ["search_memory", "upsert_memory", ["error.type", "memory_not_found"], "delete_memory"]);
  } finally {
    delete globalThis[registered];
  }
});

test("it needs nothing but what the web has", async () => {
  const text = readFileSync(new URL("../dist/index.cjs", import.meta.url), "utf8");
  const module = { exports: {} };
  const fetch = async (_, { body }) => json(201, taken(JSON.parse(body)));
  const web = { module, fetch, crypto, URL, URLSearchParams, TextEncoder, AbortSignal, setTimeout, clearTimeout, console, Response };
  vm.runInNewContext(text, web);
  const { appended } = await new module.exports.Neve({ apiKey: "k", lingerMs: 0 }).user("ada").session("s1").append("hi");
  assert.equal(appended, 1);
});
