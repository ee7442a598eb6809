/* Plays a scenario with this SDK: sdk/scenarios/README.md. NEVE_URL and NEVE_KEY are the service's, NEVE_PROXY is the address of
 * `python -m tests.sdk.proxy` in front of it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import * as sdk from "../dist/index.js";
import { difference, valueOf } from "./patterns.mjs";

const { NEVE_URL: SERVICE, NEVE_KEY: KEY, NEVE_PROXY: PROXY } = process.env;
const API = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8"));
const PATIENCE_MS = 60_000;
const SESSION = "s1";
const KINDS = {
  auth: sdk.NeveAuth,
  bad_request: sdk.NeveBadRequest,
  too_large: sdk.NeveTooLarge,
  not_found: sdk.NeveNotFound,
  conflict: sdk.NeveConflict,
  quota: sdk.NeveQuota,
  unavailable: sdk.NeveUnavailable,
  connection: sdk.NeveConnection,
  protocol: sdk.NeveProtocol,
};
/** The arguments that are given by their place, in this order. */
const BY_PLACE = {
  append: ["said"],
  turn: ["said"],
  stop: ["said"],
  context: ["message"],
  recall: ["query"],
  usage: ["response"],
  edit: ["which", "said"],
  branch: ["which"],
  remember: ["text"],
  forget: ["which"],
  callTool: ["name", "arguments"],
};

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const renamed = (object, how) => Object.fromEntries(Object.entries(object).map(([name, value]) => [how(name), value]));

export async function steer(path, body) {
  const answer = await fetch(`${PROXY}/_/${path}`, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
  return answer.json();
}

/** @throws AssertionError at the first step that does not hold. */
export async function play(scenario) {
  const scene = { user: `scene-${crypto.randomUUID().slice(0, 12)}`, saved: {}, sessions: [] };
  await steer("heal", {});
  scene.neve = client(scenario.client ?? {});
  try {
    for (const [number, step] of scenario.steps.entries()) await played(scene, step, `step ${number + 1}: ${JSON.stringify(step).slice(0, 300)}`);
  } finally {
    for (const session of scene.sessions) session.drop();
  }
}

/** Seconds by call, for a machine with far too much to do: what has a budget in a scenario says so there. */
const PATIENT = { recall: 20, pack: 20, turn: 20, append: 20, usage: 20, flush: 20 };

function client({ key, url, strict, timeouts = {}, bound, linger = 0 }) {
  const urls = { nowhere: "http://127.0.0.1:9", "no scheme": "localhost:8787", v1: `${PROXY}/v1` };
  const keys = { wrong: "nv_wrong", none: "" };
  return new sdk.Neve({
    apiKey: key === undefined ? KEY : (keys[key] ?? key),
    baseUrl: urls[url] ?? PROXY,
    strict: strict ?? false,
    timeouts: renamed(Object.fromEntries(Object.entries({ ...PATIENT, ...timeouts }).map(([name, seconds]) => [name, seconds * 1000])), (name) => (name === "turn" ? "context" : name)),
    ...(bound !== undefined && { bound }),
    lingerMs: linger * 1000,
    onError: () => undefined,
  });
}

async function played(scene, step, at) {
  if (step.fault) await steer("fault", step.fault);
  else if (step.heal) await steer("heal", {});
  else if (step.client) {
    for (const session of scene.sessions) session.drop();
    scene.neve = client(resolved(scene, step.client));
  } else if (step.log) await logged(scene, step, at);
  else if (step.sent) await sent(scene, step.sent, at);
  else await called(scene, step, at);
}

async function called(scene, step, at) {
  const given = resolved(scene, step.args ?? {});
  const began = performance.now();
  let found;
  try {
    found = told(await made(scene, step, given));
  } catch (error) {
    if (!(error instanceof sdk.NeveError) || !step.raises) throw new assert.AssertionError({ message: `${at}\nthrew ${error.stack}` });
    const { kind, code, says = [] } = step.raises;
    assert.equal(error.constructor, KINDS[kind], `${at}\n${error}`);
    assert.equal(error.code, code, `${at}\n${error}`);
    for (const text of says) assert.ok(error.message.includes(text), `${at}\n${error} does not say ${text}`);
    return;
  }
  assert.ok(!step.raises, `${at}\ndid not throw, and returned ${JSON.stringify(found)}`);
  const different = step.returns === undefined ? undefined : difference(step.returns, found, scene.saved);
  assert.equal(different, undefined, `${at}\n${different}\nwhole: ${JSON.stringify(found)?.slice(0, 2000)}`);
  if (step.save) scene.saved[step.save] = found;
  const took = performance.now() - began;
  assert.ok(took <= (step.within_ms ?? took), `${at}\ntook ${took} ms`);
}

async function made(scene, { call, on = "session" }, given) {
  if (on === "client") return scene.neve[camel(call)]();
  if (on === "raw") return raw(scene, call, given);
  const user = scene.neve.user(scene.user);
  const named = (BY_PLACE[camel(call)] ?? []).filter((name) => name in given);
  const places = named.map((name) => {
    const value = given[name];
    delete given[name];
    return value;
  });
  const options = Object.keys(given).length ? [renamed(given, camel)] : [];
  if (on === "user") {
    const made = user[camel(call)](...places, ...options);
    return made[Symbol.asyncIterator] ? all(made) : made;
  }
  const session = user.session(SESSION);
  if (!scene.sessions.includes(session)) scene.sessions.push(session);
  return session[camel(call)](...places, ...options);
}

async function all(pages) {
  const found = [];
  for await (const one of pages) found.push(one);
  return found;
}

function raw(scene, call, given) {
  const id = camel(call);
  const [path, operation] = Object.entries(API.paths)
    .flatMap(([path, methods]) => Object.values(methods).map((operation) => [path, operation]))
    .find(([, operation]) => operation.operationId === id);
  const places = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => given[name]);
  const asked = (operation.parameters ?? []).filter((one) => one.in === "query" && given[one.name] !== undefined).map(({ name }) => [name, given[name]]);
  const query = Object.fromEntries(asked);
  if (operation.requestBody) return scene.neve.raw[id](...places, given.body, { query });
  return scene.neve.raw[id](...places, ...((operation.parameters ?? []).some((one) => one.in === "query") ? [query] : []));
}

/** What a call returned, as the table writes it. */
function told(found) {
  if (Array.isArray(found) && "text" in found) return { hits: [...found], text: found.text, degraded: found.degraded };
  if (!found || typeof found !== "object" || Array.isArray(found)) return found;
  if (found.request) return { request: found.request, prompt_id: found.promptId, stale: found.stale, degraded: found.degraded };
  return renamed(found, snake);
}

async function logged(scene, step, at) {
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    const answer = await fetch(`${SERVICE}/v1/users/${scene.user}/sessions/${SESSION}/events?limit=200`, { headers: { Authorization: `Bearer ${KEY}` } });
    const events = answer.status === 404 ? [] : (await answer.json()).events;
    const found = events.filter(({ retracted, erased }) => !retracted && !erased).map(({ event_type, content }) => [event_type, text(content)]);
    const same = found.length === step.log.length && found.every(([type, words], n) => type === step.log[n][0] && (step.texts === "begin" ? words.startsWith(step.log[n][1]) : words === step.log[n][1]));
    if (same) return;
    assert.ok(performance.now() < until && found.length < step.log.length + 9, `${at}\nin the log: ${JSON.stringify(found)}`);
  }
}

function text(content) {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").filter(Boolean).join("\n");
}

async function sent(scene, wanted, at) {
  const everything = await steer("sent");
  const found = everything.filter(({ line }) => new RegExp(wanted.match).test(line));
  const lines = everything.map(({ line }) => line).join("\n");
  if (wanted.count !== undefined) assert.equal(found.length, wanted.count, `${at}\nsent:\n${lines}`);
  if (wanted.same) {
    assert.equal(new Set(found.map(({ headers }) => headers[wanted.same])).size, 1, at);
    assert.ok(found[0].headers[wanted.same], `${at}\nno ${wanted.same}`);
  }
  if (wanted.body) {
    const different = difference(wanted.body, JSON.parse(found.at(-1).body), scene.saved);
    assert.equal(different, undefined, `${at}\n${different}`);
  }
}

function resolved(scene, value) {
  if (typeof value === "string") return value.replaceAll("$user", scene.user);
  if (Array.isArray(value)) return value.map((one) => resolved(scene, one));
  if (!value || typeof value !== "object") return value;
  if (value.$repeat) return value.$repeat[0].repeat(value.$repeat[1]);
  if (value.$times) return Array.from({ length: value.$times[0] }, (_, n) => JSON.parse(JSON.stringify(value.$times[1]).replaceAll("$n", String(n + 1))));
  if (value.$same) return valueOf(value.$same, scene.saved);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(scene, one)]));
}
