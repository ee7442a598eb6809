/* A real server on a folder of its own, a browser, and what a page has to be whatever it shows. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const ROOT = new URL("../../", import.meta.url).pathname;
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const START_MS = 120_000;
/** The machine may be busy: what does not come by then never comes. */
export const PATIENCE_MS = 120_000;

/** `python -m local` on a new folder: `api(method, path, body)` with its key, `token(user?)`, `stop()`, `start()` again,
 * and `control("clock", {advance_s: 60})` of its test controls (local/controls/routes.py). `settled()`: the workers have
 * nothing left to do; before it nobody knows how far they are. `t`: of a test, or `{ after }` at
 * the top of a file, with `await` and outside of `before`, whose end would be taken for the end of it all. */
export async function server(t, { embedder = "fixture" } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "neve-console-"));
  const ready = join(folder, "ready");
  const python = existsSync(join(ROOT, ".venv/bin/python")) ? join(ROOT, ".venv/bin/python") : "python3";
  let child;
  const made = { url: "", key: "", port: 0, start, stop, api, token, control, settled };
  async function start() {
    await rm(ready, { force: true });
    const args = ["-m", "local", "--port", String(made.port), "--data", join(folder, "data"), "--embedder", embedder, "--ready-file", ready, "--test-controls"];
    const PYTHONPATH = ["layers/core", ".", "sdk/python"].map((one) => join(ROOT, one)).join(":");
    child = spawn(python, args, { cwd: ROOT, env: { ...process.env, PYTHONPATH, ANTHROPIC_API_KEY: "" }, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (text) => (said += text));
    const until = Date.now() + START_MS;
    while (!existsSync(ready)) {
      assert.ok(child.exitCode === null && Date.now() < until, `the server did not start:\n${said}`);
      await pause(100);
    }
    const { url, api_key: key } = JSON.parse(await readFile(ready, "utf8"));
    Object.assign(made, { url, key, port: Number(new URL(url).port) });
  }
  async function stop() {
    if (child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }
  async function api(method, path, body, headers = {}) {
    const init = { method, headers: { Authorization: `Bearer ${made.key}`, ...headers } };
    if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await fetch(`${made.url}/v1${path}`, init);
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text && JSON.parse(text);
  }
  async function control(name, body) {
    const answer = await fetch(`${made.url}/__test/${name}`, { method: "POST", body: JSON.stringify(body) });
    assert.ok(answer.ok, `${name}: ${await answer.clone().text()}`);
    return answer.json();
  }
  async function settled() {
    for (const until = Date.now() + PATIENCE_MS; !(await control("drain", { timeout_s: 20 })).done; ) assert.ok(Date.now() < until, "the workers do not come to rest");
  }
  /** A user's token, or without one the tenant's; all scopes unless told. */
  async function token(user, scopes = user ? ["chat", "records", "self"] : ["chat", "records", "admin"], ttl_s = 3600) {
    return (await api("POST", user ? `/users/${encodeURIComponent(user)}/tokens` : "/tokens", { scopes, ttl_s })).token;
  }
  t.after(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });
  await start();
  return made;
}

export async function browser(t) {
  const executablePath = process.env.CHROMIUM || BROWSERS.find(existsSync);
  assert.ok(executablePath, "no browser: apt-get install chromium, or CHROMIUM=/path/of/one");
  const opened = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  t.after(() => opened.close());
  return opened;
}

/** A page of the console in a context of its own. `page.wrong` collects what may never be: errors in the console, breaches
 * of the CSP, requests to anywhere else. `wrong.allow` takes those that a test means (a pattern). */
export async function page(opened, { width = 1200, height = 800, colorScheme = "light" } = {}) {
  const context = await opened.newContext({ viewport: { width, height }, colorScheme });
  const shown = await context.newPage();
  shown.setDefaultTimeout(PATIENCE_MS);
  shown.wrong = [];
  shown.origins = new Set();
  shown.on("console", (message) => message.type() === "error" && shown.wrong.push(message.text()));
  shown.on("pageerror", (error) => shown.wrong.push(String(error)));
  shown.on("request", (request) => shown.origins.add(new URL(request.url()).origin));
  await shown.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
  });
  return shown;
}

export const address = (served, token, hash = "/memories") => `${served.url}/console/#${hash}${hash.includes("?") ? "&" : "?"}token=${token}`;

/** Opens a view as the holder of a token, and waits until it has loaded what it shows. */
export async function open(shown, served, token, hash) {
  await shown.goto("about:blank");
  await shown.goto(address(served, token, hash));
  await loaded(shown);
}

/** Until nothing on the page says "Loading…" and no request is under way. */
export async function loaded(shown) {
  await shown.waitForSelector("nav");
  await shown.waitForLoadState("networkidle");
  await shown.waitForFunction(() => !/Loading…|, loading…/.test(document.body.innerText));
}

/** What every view has to be: a heading, axe clean, nothing sideways, no error, its own origin only. */
export async function looks(shown, name) {
  assert.equal(await shown.locator("h1").count(), 1, `${name}: one h1`);
  const { wide, seen } = await shown.evaluate(() => ({ wide: document.documentElement.scrollWidth, seen: innerWidth }));
  assert.ok(wide <= seen, `${name}: ${wide} px wide in ${seen}`);
  assert.deepEqual(await axe(shown), [], `${name}: axe`);
  assert.deepEqual(shown.wrong, [], `${name}: errors`);
  assert.deepEqual([...shown.origins].filter((origin) => origin !== new URL(shown.url()).origin && origin !== "null"), [], `${name}: requests to elsewhere`);
}

/** Playwright's own evaluate is no script of the page, so that the CSP stays as it is. */
export async function axe(shown) {
  const source = await readFile(AXE, "utf8");
  await shown.evaluate(source);
  const violations = await shown.evaluate(() => globalThis.axe.run(document).then((result) => result.violations));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ").slice(0, 600)}`);
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
