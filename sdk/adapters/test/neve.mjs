/* What the tests of the adapters share. NEVE_URL and NEVE_KEY are the service's, NEVE_PROXY is `tests/sdk/proxy.py` in front of it,
 * NEVE_MODEL the model of tests/loopback; NEVE_FRAMEWORKS a folder with the frameworks, this folder's parent unless said. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Neve } from "../../typescript/dist/index.js";

const { NEVE_URL: SERVICE, NEVE_KEY: KEY, NEVE_PROXY: PROXY, NEVE_MODEL: MODEL } = process.env;
export const FRAMEWORKS = join(process.env.NEVE_FRAMEWORKS ?? fileURLToPath(new URL("..", import.meta.url)), "node_modules");
const PATIENCE_MS = 60_000;
const NOBODY = "http://127.0.0.1:9";
const PATIENT = { recall: 20_000, pack: 20_000, context: 20_000, append: 20_000, usage: 20_000, flush: 20_000 };

/** A module of a framework, of the version that is tested. */
export async function framework(name, path = "") {
  const folder = join(FRAMEWORKS, name);
  const { exports, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { import: imported, default: fallback } = exports[path ? `./${path}` : "."];
  return { version, ...(await import(pathToFileURL(join(folder, imported?.default ?? imported ?? fallback)).href)) };
}

const steer = async (base, path, body) => (await fetch(`${base}/_/${path}`, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })).json().catch(() => undefined);
export const proxy = (path, body) => steer(PROXY, path, body);
export const model = (path, body) => steer(MODEL, path, body);

/** What was sent to Neve since the last `proxy("heal", {})`: methods and paths, without the user. */
export async function sent(user) {
  return (await proxy("sent")).map(({ line }) => line).filter((line) => line.includes(user)).map((line) => line.replace(/\/v1\/users\/[^/]+/, "").replace(/\/sessions\/[^/]+/, "").replace(/\?.*/, ""));
}

export const newUser = () => `ada-${crypto.randomUUID().slice(0, 12)}`;

/** A client that answers are not waited for by: they go with the next turn, or by `flush`. */
export function client(options = {}) {
  return new Neve({ apiKey: KEY, baseUrl: PROXY, timeouts: PATIENT, lingerMs: 600_000, onError: () => undefined, ...options });
}

export const unreachable = (options = {}) => client({ baseUrl: NOBODY, ...options });

export async function service(method, path, body) {
  const answer = await fetch(`${SERVICE}/v1${path}`, { method, headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" }, ...(body && { body: JSON.stringify(body) }) });
  const found = await answer.json();
  assert.ok(answer.ok, `${method} ${path}: ${JSON.stringify(found)}`);
  return found;
}

export async function events(user, session) {
  return (await service("GET", `/users/${user}/sessions/${session}/events?limit=200&retracted=false`)).events;
}

/** The log, as type and text. Waits until it is as long as `length`. */
export async function log(user, session, length = 0) {
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    const found = (await events(user, session)).map(({ event_type, content }) => [event_type, typeof content === "string" ? content : content.map(({ text = "" }) => text).join("")]);
    if (found.length >= length || performance.now() > until) return found;
  }
}
