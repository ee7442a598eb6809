/* What holds for the page as a whole: the token, where requests go, a service that is away, text that is hostile. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { axe, browser, loaded, looks, open, page, server } from "./scene.mjs";
import { A, B, BIDI, LONG, MARKUP, seed, SECRET_OF_B } from "./seed.mjs";

const served = await server({ after });
const opened = await browser({ after });
await seed(served);

const text = (shown) => shown.evaluate(() => document.body.innerText);

test("the token leaves the address and is kept in no storage", async () => {
  const shown = await page(opened);
  const token = await served.token();
  await open(shown, served, token, `/memories?user=${A}&q=lives`);
  assert.equal(shown.url(), `${served.url}/console/#/memories?user=${A}&q=lives`);
  const kept = await shown.evaluate(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, await indexedDB.databases(), await caches.keys(), document.documentElement.outerHTML]));
  assert.ok(!kept.includes(token.split(".")[2]), "the token is somewhere");
  assert.deepEqual(await shown.context().cookies(), []);
  await shown.goBack().catch(() => null);
  assert.ok(!shown.url().includes(token), "it is in the history");
});

test("without a token it asks for one, and says why a wrong one is none", async () => {
  const shown = await page(opened);
  await shown.goto(`${served.url}/console#/memories?user=${A}&q=porto`);
  await shown.getByLabel("Token").fill("nonsense");
  await shown.getByRole("button", { name: "Go on" }).click();
  await shown.getByText("neither an access token nor an API key").waitFor();
  assert.deepEqual(await axe(shown), []);
  await shown.getByLabel("Token").fill(served.key);
  await shown.keyboard.press("Enter");
  await shown.getByText("Ada lives in Porto.").waitFor();
});

test("nothing runs that is not a file of the page, and no request goes elsewhere", async () => {
  const shown = await page(opened);
  const answer = await shown.goto(`${served.url}/console/`);
  const csp = answer.headers()["content-security-policy"];
  assert.match(csp, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
  assert.ok(!csp.includes("unsafe"), csp);
  assert.equal(answer.headers()["x-content-type-options"], "nosniff");
  assert.equal(answer.headers()["referrer-policy"], "no-referrer");
  await shown.evaluate(() => document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = 1" })));
  assert.equal(await shown.evaluate(() => window.ran), undefined);
  assert.equal(await shown.evaluate(() => fetch("https://example.com/").then(() => "sent", () => "refused")), "refused");
  for (const path of ["..%2fpackage.json", "../package.json", "app.js", "missing"]) {
    assert.equal((await fetch(`${served.url}/console/${path}`)).status, 404, path);
  }
});

test("hostile text stays text", async () => {
  const shown = await page(opened);
  await open(shown, served, await served.token(), `/memories?user=${A}`);
  const all = await text(shown);
  assert.ok(all.includes(MARKUP), "markup as it was written");
  assert.ok(all.includes("⟪U+202E⟫gpj.exe⟪U+202C⟫") && !all.includes(BIDI), "bidi characters as marks");
  assert.equal(await shown.locator("main img, main script, main iframe").count(), 0);
  assert.equal(await shown.locator("main a[href^='https:']").count(), 0);
  assert.match(await shown.title(), /^Memories · ada · Neve$/);
  assert.ok(!all.includes(LONG), "a word of 64,000 letters is cut");
  await looks(shown, "hostile text");
});

test("a token that ends while somebody types loses nothing, and the request goes on", async () => {
  const shown = await page(opened);
  await open(shown, served, await served.token(A), "/memories");
  await shown.getByLabel("Search").fill("porto");
  await served.control("clock", { advance_s: 7200 });
  try {
    await shown.getByLabel("Kind").selectOption("fact");
    const dialog = shown.getByRole("dialog", { name: "A new token, please" });
    await dialog.waitFor();
    await dialog.getByText("was good until").waitFor();
    assert.deepEqual(await axe(shown), []);
    await dialog.getByLabel("Token").fill(await served.token(B));
    await dialog.getByRole("button", { name: "Go on" }).click();
    await dialog.getByText("This token is of bob, and the page is of ada").waitFor();
    await shown.keyboard.press("Escape");
    assert.ok(await dialog.isVisible(), "it cannot be put away");
    await dialog.getByLabel("Token").fill(await served.token(A));
    await dialog.getByRole("button", { name: "Go on" }).click();
    await dialog.waitFor({ state: "detached" });
    await loaded(shown);
  } finally {
    await served.control("clock", {});
  }
  assert.equal(await shown.getByLabel("Search").inputValue(), "porto");
  assert.equal(await shown.getByRole("row").count(), 1);
  assert.ok((await text(shown)).includes("Ada lives in Porto."));
});

test("a reload with another token shows the same view", async () => {
  const shown = await page(opened);
  await open(shown, served, await served.token(), `/memories?user=${A}`);
  await shown.getByLabel("Status").selectOption("superseded");
  await shown.getByLabel("Search").fill("Lisbon");
  await loaded(shown);
  const hash = new URL(shown.url()).hash.slice(1);
  await open(shown, served, await served.token(), hash);
  assert.equal(await shown.getByLabel("Status").inputValue(), "superseded");
  assert.ok((await text(shown)).includes("Ada lives in Lisbon."));
});

test("a token of one user shows nothing of another, whatever the address says", async () => {
  const shown = await page(opened);
  const asked = [];
  shown.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await open(shown, served, await served.token(A), `/memories?user=${B}`);
  for (const link of await shown.locator("nav a").all()) {
    await link.click();
    await loaded(shown);
    assert.ok(!(await text(shown)).includes(SECRET_OF_B));
  }
  const others = asked.filter((path) => path.startsWith("/v1/users") && !path.startsWith(`/v1/users/${A}/`));
  assert.deepEqual(others, []);
  assert.equal(await shown.getByText("other user").count(), 0);
});

test("while the service is away what is on the page stays, marked, and comes back by itself", async () => {
  const shown = await page(opened);
  await open(shown, served, await served.token(), `/memories?user=${A}`);
  const rows = await shown.getByRole("row").count();
  await served.stop();
  await shown.getByLabel("Kind").selectOption("fact");
  await shown.getByText(/not reachable: what is shown is as of \d/).waitFor();
  assert.equal(await shown.getByRole("row").count(), rows);
  assert.deepEqual(await axe(shown), []);
  await served.start();
  await shown.getByRole("button", { name: "Try now" }).click();
  await shown.getByText("not reachable").waitFor({ state: "detached" });
  await loaded(shown);
  assert.ok((await shown.getByRole("row").count()) < rows);
});

test("a long list holds few rows in the page, and is gone through by the keyboard", async () => {
  const line = (at) => JSON.stringify({ text: `Memory number ${at} of a long list.`, kind: "note" });
  const many = Array.from({ length: 2000 }, (_, at) => line(at)).join("\n");
  const answer = await fetch(`${served.url}/v1/users/many/memories/import`, { method: "POST", body: many, headers: { Authorization: `Bearer ${served.key}`, "Content-Type": "application/jsonl" } });
  assert.equal(answer.status, 200, await answer.text());
  const shown = await page(opened);
  await open(shown, served, await served.token("many"), "/memories");
  const grid = shown.getByRole("grid");
  assert.equal(await grid.getAttribute("aria-rowcount"), "2000");
  assert.ok((await shown.getByRole("row").count()) < 60);
  await shown.getByRole("row").first().focus();
  const at = () => shown.evaluate(() => document.activeElement.getAttribute("aria-rowindex"));
  for (const [key, row] of [["ArrowDown", "2"], ["End", "2000"], ["ArrowUp", "1999"], ["Home", "1"]]) {
    await shown.keyboard.press(key);
    assert.equal(await at(), row, key);
  }
  await grid.evaluate((box) => (box.scrollTop = 0.4 * box.scrollHeight));
  await shown.waitForFunction(() => document.querySelector("[aria-rowindex='800']"));
  assert.equal(await at(), "1", "the row with the focus stays");
});
