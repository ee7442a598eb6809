/* The middleware against a model without it. NEVE_AI is the version of the AI SDK: 6 or 7. */
import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { neveMemory } from "../ai-sdk/dist/index.js";
import { client, events, framework, log, model, newUser, proxy, sent, service, unreachable } from "./neve.mjs";

const { NEVE_AI: VERSION = "6", NEVE_MODEL: MODEL } = process.env;
const { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel, version } = await framework(`ai-${VERSION}`);
const mocks = await framework(`ai-${VERSION}`, "test");
const { createAnthropic } = await framework(`@ai-sdk/anthropic-${VERSION}`);
const MockModel = VERSION === "6" ? mocks.MockLanguageModelV3 : mocks.MockLanguageModelV4;
const { convertArrayToReadableStream } = mocks;

const SYSTEM = "Answer in one line.";
const USED = { inputTokens: { total: 100, noCache: 60, cacheRead: 40, cacheWrite: 0 }, outputTokens: { total: 7, text: 7, reasoning: 0 } };
const STOP = { unified: "stop", raw: "end_turn" };
const CALLS = { unified: "tool-calls", raw: "tool_use" };
const TOOLS = { weather: tool({ description: "The weather", inputSchema: jsonSchema({ type: "object", properties: { day: { type: "number" } } }), execute: ({ day }) => ({ day, sky: "clear" }) }) };

const text = (text) => ({ content: [{ type: "text", text }], finishReason: STOP, usage: USED, warnings: [] });
const call = (day) => ({ content: [{ type: "reasoning", text: `Day ${day}?` }, { type: "text", text: "I look." }, { type: "tool-call", toolCallId: `call-${day}`, toolName: "weather", input: JSON.stringify({ day }) }], finishReason: CALLS, usage: USED, warnings: [] });

/** A model that answers these results in turn, streamed or not; `prompts` is what it was asked. */
function scripted(...results) {
  const prompts = [];
  const next = ({ prompt }) => {
    prompts.push(structuredClone(prompt));
    const result = results.shift();
    if (result instanceof Error) throw result;
    return result;
  };
  const made = new MockModel({
    modelId: "claude-sonnet-5",
    doGenerate: async (options) => next(options),
    doStream: async (options) => {
      const { content, finishReason, usage } = next(options);
      const parts = content.flatMap((part, n) => {
        if (!/^(text|reasoning)$/.test(part.type)) return [part];
        const halves = [part.text.slice(0, 3), part.text.slice(3)];
        return [{ type: `${part.type}-start`, id: `${n}` }, ...halves.map((delta) => ({ type: `${part.type}-delta`, id: `${n}`, delta })), { type: `${part.type}-end`, id: `${n}` }];
      });
      return { stream: convertArrayToReadableStream([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }]) };
    },
  });
  return Object.assign(made, { prompts });
}

/** What a caller sees of a run, without what differs by itself: times and made ids. `neve` is what only ours says. */
function seen(value) {
  const plain = JSON.parse(JSON.stringify(value, (name, one) => (/^(timestamp|id|callId|performance|headers|neve|messageId|request|runtimeContext|toolsContext|initialMessages|initialInstructions)$/.test(name) ? undefined : one instanceof Error ? String(one) : one)));
  return JSON.parse(JSON.stringify(plain, (name, one) => (name === "providerMetadata" && one && !Object.keys(one).length ? undefined : one)));
}

async function generated(model, options) {
  const result = await generateText({ model, maxRetries: 0, ...options }).catch((error) => error);
  if (result instanceof Error) return { error: String(result) };
  const { text, reasoningText, content, toolCalls, toolResults, finishReason, usage, totalUsage, warnings, steps, response } = result;
  return seen({ text, reasoningText, content, toolCalls, toolResults, finishReason, usage, totalUsage, warnings, steps: steps.map(({ content, finishReason, usage, warnings }) => ({ content, finishReason, usage, warnings })), messages: response.messages });
}

async function streamed(model, options) {
  const errors = [];
  const result = streamText({ model, maxRetries: 0, onError: ({ error }) => void errors.push(String(error)), ...options });
  const parts = [];
  for await (const part of result.fullStream) parts.push(part);
  return seen({ parts, errors });
}

const user = newUser();
const wrapped = (model, session, options) => wrapLanguageModel({ model, middleware: neveMemory(session, options) });
/** Without a field of a beta that the model of tests/loopback does not know. */
const loop = { tools: TOOLS, stopWhen: stepCountIs(5), providerOptions: { anthropic: { toolStreaming: false } } };
const image = { type: "file", mediaType: "image/png", data: new Uint8Array(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")) };
const SCENES = {
  "a prompt": [{ prompt: "Hello." }, () => [text("Hi.")]],
  "a system message and a history": [{ system: SYSTEM, messages: [{ role: "user", content: "Hello." }, { role: "assistant", content: "Hi." }, { role: "user", content: [{ type: "text", text: "How are you?" }] }] }, () => [text("Fine.")]],
  "an image": [{ messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, image] }] }, () => [text("A dot.")]],
  "a loop of tools": [{ prompt: "The weather of four days?", ...loop }, () => [call(1), call(2), call(3), call(4), text("Clear.")]],
  "a loop that is stopped": [{ prompt: "The weather?", tools: TOOLS, stopWhen: stepCountIs(2) }, () => [call(1), call(2)]],
  "an answer of every kind": [{ prompt: "Show me." }, () => [{ ...text("Look:"), content: [{ type: "text", text: "Look:" }, { type: "source", sourceType: "url", id: "s", url: "https://example.com/", title: "A" }, { type: "file", mediaType: "image/png", data: VERSION === "6" ? Buffer.from(image.data).toString("base64") : { type: "data", data: Buffer.from(image.data).toString("base64") } }] }]],
  "an empty answer": [{ prompt: "Say nothing." }, () => [{ ...text(""), content: [] }]],
  "a model that fails": [{ prompt: "Hello?" }, () => [new Error("out of order")]],
};

before(async () => {
  console.log(`# ai ${version}`);
  await service("POST", `/users/${user}/memories`, { text: "Ada is allergic to walnuts." });
});
beforeEach(() => proxy("heal", {}));

for (const [how, run] of [["generateText", generated], ["streamText", streamed]]) {
  for (const [name, [options, results]] of Object.entries(SCENES)) {
    for (const [state, neve] of [["", client()], [", while Neve is down", unreachable()]]) {
      test(`${how} with ${name} answers as without memory${state}`, async () => {
        const [alone, remembering] = [scripted(...results()), scripted(...results())];
        const session = neve.user(user).session(crypto.randomUUID());
        const found = await run(wrapped(remembering, session), options);
        assert.deepEqual(found, await run(alone, options));
        assert.equal(remembering.prompts.length, alone.prompts.length);
        remembering.prompts.forEach((prompt, n) => assert.deepEqual(...[prompt, alone.prompts[n]].map(withoutMemory)));
        session.drop();
      });
    }
  }
}

/** A prompt without what the middleware puts in. */
function withoutMemory(prompt) {
  return prompt
    .filter(({ role, content }) => role !== "system" || !content.includes("<neve-memory"))
    .map(({ providerOptions, ...message }) => ({ ...message, content: typeof message.content === "string" ? message.content : message.content.filter(({ text }) => !text?.startsWith("<neve-")) }));
}

test("the pack stands behind the caller's system message, marked, and what is recalled in what the user says", async () => {
  const asked = scripted(text("Walnuts."));
  const { providerMetadata } = await generateText({ model: wrapped(asked, client().user(user).session(crypto.randomUUID())), system: SYSTEM, prompt: "Which nuts am I allergic to?" });
  const [system, pack, said] = asked.prompts[0];
  assert.equal(system.content, SYSTEM);
  assert.equal(pack.role, "system");
  assert.match(pack.content, /<neve-memory[^]*walnuts/);
  assert.deepEqual(pack.providerOptions, { anthropic: { cacheControl: { type: "ephemeral" } } });
  assert.match(said.content[0].text, /^<neve-session>/);
  assert.equal(said.content.at(-1).text, "Which nuts am I allergic to?");
  const { stale, degraded, promptId } = providerMetadata.neve;
  assert.deepEqual([stale, degraded, typeof promptId], [false, [], "string"]);
});

test("there are no more marks than a provider takes, and none beside those that the caller sets on messages", async () => {
  const mark = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
  const marks = ({ prompts }) => prompts[0].map(({ providerOptions }) => (providerOptions?.anthropic ? 1 : 0)).join("");
  const history = (n, more) => [{ role: "user", content: "One.", ...more }, { role: "assistant", content: "1.", ...(n > 1 && more) }, { role: "user", content: "Two.", ...(n > 2 && more) }];
  const system = { role: "system", content: SYSTEM };
  for (const [messages, wanted] of [[[system, ...history(0)], "01010"], [[{ ...system, ...mark }, ...history(0)], "11010"], [[system, ...history(1, mark)], "01100"], [[{ ...system, ...mark }, ...history(3, mark)], "10111"]]) {
    const asked = scripted(text("2."));
    await generateText({ model: wrapped(asked, client().user(user).session(crypto.randomUUID())), messages, allowSystemInMessages: true });
    assert.equal(marks(asked), wanted);
  }
});

test("what was said elsewhere is recalled, and not stored with what it is put into", async () => {
  const own = newUser();
  await service("POST", `/users/${own}/sessions/old/messages`, { messages: [{ role: "user", content: "My cat is called Bertrand Russell." }, { role: "assistant", content: "A fine name." }] });
  const [asked, session] = [scripted(text("Bertrand Russell.")), client().user(own).session("new")];
  await generateText({ model: wrapped(asked, session), prompt: "What is my cat called?" });
  assert.match(JSON.stringify(asked.prompts[0]), /Bertrand Russell/);
  await session.flush();
  assert.deepEqual(await log(own, "new"), [["user_message", "What is my cat called?"], ["assistant_response", "Bertrand Russell."]]);
});

for (const [how, run] of [["generateText", generated], ["streamText", streamed]]) {
  test(`a loop of five steps by ${how} has the same beginning in every step, is cached, and asks Neve once and tells it once`, async () => {
    const user = newUser();
    await model("reset", {});
    await model("script", [1, 2, 3, 4].map((day) => ({ text: "I look.", tool_calls: [{ name: "weather", arguments: { day } }] })).concat([{ text: "Clear." }]));
    const session = client().user(user).session(crypto.randomUUID());
    const claude = createAnthropic({ baseURL: `${MODEL}/v1`, apiKey: "k" })("claude-sonnet-5");
    await run(wrapped(claude, session), { system: SYSTEM, prompt: "The weather of four days, and my nuts?", ...loop });
    assert.deepEqual(await sent(user), ["POST /turn", "POST /usage"]);
    const { requests, refused } = await model("requests");
    assert.deepEqual([requests.length, refused], [5, []]);
    const bytes = (body) => JSON.stringify(body, (name, value) => (name === "cache_control" ? undefined : value));
    requests.forEach(({ tools, system, messages }, n) => {
      const next = requests[n + 1];
      if (!next) return;
      assert.equal(JSON.stringify(next.tools), JSON.stringify(tools));
      assert.equal(JSON.stringify(next.system), JSON.stringify(system), "the marks, too");
      assert.ok(bytes(next.messages).startsWith(bytes(messages).slice(0, -1)));
    });
    const { tokens } = (await service("GET", `/users/${user}/stats`)).prompt_cache;
    assert.ok(tokens.cache_read > 4 * 1024, JSON.stringify(tokens));
    await session.flush();
    const stored = await log(user, session.id, 10);
    assert.deepEqual(stored.map(([type]) => type), ["user_message", ...[1, 2, 3, 4].flatMap(() => ["tool_call", "tool_result"]), "assistant_response"]);
    assert.ok(!JSON.stringify(await events(user, session.id)).includes("<neve-"));
    assert.deepEqual(await sent(user), ["POST /turn", "POST /usage", "POST /messages"]);
  });
}

test("steps that the caller shortens keep the pack, and nothing is told twice", async () => {
  const own = newUser();
  const [asked, session] = [scripted(call(1), call(2), call(3), text("Clear.")), client().user(own).session("s")];
  const shorter = { prepareStep: ({ messages, stepNumber }) => ({ messages: stepNumber === 1 ? messages.slice(-3) : messages.slice(-2) }) };
  const history = [{ role: "user", content: "Hello." }, { role: "assistant", content: "Hi." }, { role: "user", content: "The weather?" }];
  await generateText({ model: wrapped(asked, session), system: SYSTEM, messages: history, ...loop, prepareStep: (step) => (step.stepNumber ? shorter.prepareStep(step) : {}) });
  assert.deepEqual(asked.prompts.map((prompt) => prompt[1].content), Array(4).fill(asked.prompts[0][1].content));
  assert.match(asked.prompts[0][1].content, /bakery/);
  assert.deepEqual(await sent(own), ["POST /turn", "POST /usage"]);
  await session.flush();
  assert.deepEqual((await log(own, "s", 8)).map(([type]) => type), ["user_message", "tool_call", "tool_result", "tool_call", "tool_result", "tool_call", "tool_result", "assistant_response"]);
});

test("the second turn tells the first answer and asks for its prompt in one call", async () => {
  const [asked, session] = [scripted(text("Hi."), text("Again.")), client().user(user).session(crypto.randomUUID())];
  const model = wrapped(asked, session);
  const messages = [{ role: "user", content: "Hello." }];
  messages.push(...(await generateText({ model, messages })).response.messages, { role: "user", content: "Hello." });
  await generateText({ model, messages });
  assert.deepEqual(await sent(user), ["POST /turn", "POST /usage", "POST /turn", "POST /usage"]);
  assert.deepEqual((await log(user, session.id)).map(([, words]) => words), ["Hello.", "Hi.", "Hello."]);
});

test("a step that the model fails in is repeated with the same bytes, and nothing is stored twice", async () => {
  const asked = scripted(call(1), Object.assign(new Error("busy"), { name: "AI_APICallError" }), text("Clear."));
  const session = client().user(user).session(crypto.randomUUID());
  const model = wrapped(asked, session);
  const messages = [{ role: "user", content: "The weather?" }];
  const failed = await generateText({ model, messages, maxRetries: 0, tools: TOOLS, stopWhen: stepCountIs(1) });
  messages.push(...failed.response.messages);
  await assert.rejects(generateText({ model, messages, maxRetries: 0, tools: TOOLS }));
  await generateText({ model, messages, maxRetries: 0, tools: TOOLS });
  assert.deepEqual(asked.prompts[1], asked.prompts[2]);
  await session.flush();
  assert.deepEqual((await log(user, session.id, 4)).map(([type]) => type), ["user_message", "tool_call", "tool_result", "assistant_response"]);
});

for (const [where, another] of [["in this process", (session) => session], ["in another process", (session) => client().user(user).session(session.id)]]) {
  test(`another answer to the same message takes the place of the first, ${where}`, async () => {
    const session = client().user(user).session(crypto.randomUUID());
    const messages = [{ role: "user", content: "Hello." }];
    await generateText({ model: wrapped(scripted(text("Go away.")), session), messages });
    await session.flush();
    const asked = scripted(text("Hi."));
    const other = another(session);
    const { providerMetadata } = await generateText({ model: wrapped(asked, other), messages });
    assert.deepEqual(providerMetadata.neve.degraded, []);
    assert.match(JSON.stringify(asked.prompts[0]), /<neve-memory/);
    await other.flush();
    assert.deepEqual((await log(user, session.id, 2)).map(([, words]) => words), ["Hello.", "Hi."]);
  });
}

test("a turn that goes on in another process has the bytes that it began with", async () => {
  const asked = scripted(call(1), text("Clear."));
  const id = crypto.randomUUID();
  const session = client().user(user).session(id);
  const messages = [{ role: "user", content: "The weather of Porto, where my nuts grow?" }];
  messages.push(...(await generateText({ model: wrapped(asked, session), messages, tools: TOOLS })).response.messages);
  await session.flush();
  const other = client().user(user).session(id);
  await generateText({ model: wrapped(asked, other), messages, tools: TOOLS });
  const [first, second] = asked.prompts.map((prompt) => JSON.stringify(prompt.slice(0, 2)));
  assert.equal(first, second);
  await other.flush();
  assert.deepEqual((await log(user, id, 4)).map(([type]) => type), ["user_message", "tool_call", "tool_result", "assistant_response"]);
});

test("a part of an unknown kind is kept whole", async () => {
  const odd = { type: "custom", kind: "acme.hologram", providerMetadata: { acme: { depth: [1, { z: 2 }] } } };
  const session = client().user(user).session(crypto.randomUUID());
  const model = wrapped(scripted({ ...text("Look:"), content: [{ type: "text", text: "Look:" }, odd] }), session);
  const { doGenerate } = model;
  await doGenerate.call(model, { prompt: [{ role: "user", content: [{ type: "text", text: "Show me." }, { type: "smell", of: "roses" }] }, { role: "oracle", content: [{ type: "text", text: "Beware." }] }] });
  await session.flush();
  const kept = (await events(user, session.id)).filter(({ event_type }) => event_type === "neutral").map(({ event_data }) => event_data.part);
  assert.deepEqual(kept.filter(({ type }) => type === "custom"), [odd]);
  assert.deepEqual(kept.filter(({ type }) => type === "smell"), [{ type: "smell", of: "roses" }]);
  assert.deepEqual(kept.filter(({ role }) => role).map(({ content }) => content[0].message), [{ role: "oracle", content: [{ type: "text", text: "Beware." }] }]);
});

test("of an answer that is broken off what was shown is kept", async () => {
  const session = client().user(user).session(crypto.randomUUID());
  const stopping = new AbortController();
  const slow = new MockModel({ doStream: async () => ({ stream: new ReadableStream({ start(controller) {
    for (const part of [{ type: "stream-start", warnings: [] }, { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Once upon" }]) controller.enqueue(part);
    stopping.signal.addEventListener("abort", () => controller.error(stopping.signal.reason));
  } }) }) });
  const result = streamText({ model: wrapped(slow, session), prompt: "A story.", abortSignal: stopping.signal, onError: () => undefined });
  for await (const part of result.fullStream) if (part.type === "text-delta") stopping.abort();
  assert.deepEqual(await log(user, session.id, 2), [["user_message", "A story."], ["assistant_response", "Once upon"]]);
});

test("while Neve is down the chat goes on, says so, and what was said is told later, once", async () => {
  const own = newUser();
  const session = client().user(own).session("s");
  const messages = [{ role: "user", content: "One." }];
  const model = wrapped(scripted(text("1."), text("2."), text("3.")), session);
  messages.push(...(await generateText({ model, messages })).response.messages, { role: "user", content: "Two." });
  await proxy("fault", { match: own, do: "answer", status: 503, body: { code: "unavailable", title: "down" } });
  const meanwhile = await generateText({ model, messages });
  assert.deepEqual([meanwhile.text, meanwhile.providerMetadata.neve.stale], ["2.", true]);
  assert.ok(meanwhile.providerMetadata.neve.degraded.includes("unavailable"), JSON.stringify(meanwhile.providerMetadata));
  assert.equal(session.kept, 3);
  await proxy("heal", {});
  messages.push(...meanwhile.response.messages, { role: "user", content: "Three." });
  const after = await generateText({ model, messages });
  assert.deepEqual(after.providerMetadata.neve.degraded, []);
  await session.flush();
  assert.deepEqual((await log(own, "s", 6)).map(([, words]) => words), ["One.", "1.", "Two.", "2.", "Three.", "3."]);
});

test("a client that is strict throws", async () => {
  const model = wrapped(scripted(text("Hi.")), unreachable({ strict: true }).user(user).session("s"));
  await assert.rejects(generateText({ model, prompt: "Hello.", maxRetries: 0 }), /cannot be reached/);
});
