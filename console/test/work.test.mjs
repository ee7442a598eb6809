/* What the tenant has to know of its service: what it costs, by which rules it remembers, and what is at work. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browser, looks, open, page, server } from "./scene.mjs";

const USER = "ada";
const served = await server({ after });
const opened = await browser({ after });
const token = await served.token();
await served.api("PATCH", "/policy", { chat_model: "claude-sonnet-5", recall_limit: 6 });
await served.api("POST", `/users/${USER}/sessions`, { session_id: "s1", title: "A talk" });
const report = (cache_read, cache_write) => served.api("POST", `/users/${USER}/usage`, { session_id: "s1", pack_version: 0, model: "claude-sonnet-5", usage: { input: 100, cache_read, cache_write, output: 50 } });
await report(0, 10_000);
await report(10_000, 400);

const tile = (shown, name) => shown.locator(".tiles > div").filter({ hasText: name });

test("money: the figures are those that were reported, of everybody and of one user", async () => {
  const shown = await page(opened);
  await open(shown, served, token, "/money");
  const { money, tokens } = (await served.api("GET", "/usage")).prompt_cache;
  const both = async () => {
    assert.match(await tile(shown, "Paid").innerText(), new RegExp(`\\$${money.cost_usd.toFixed(4)}`));
    assert.match(await tile(shown, "Saved by the cache").innerText(), new RegExp(`\\$${money.saved_usd_no_cache.toFixed(4)}`));
    assert.match(await tile(shown, "Read from the cache").innerText(), /49 %\s+10,000 of 20,600 tokens/);
  };
  assert.equal(tokens.cache_read, 10_000);
  await both();
  await shown.getByLabel("Time").selectOption("7");
  await both();
  await shown.getByRole("link", { name: "one user" }).click();
  await shown.getByLabel("Search, or the id of a user").fill(USER);
  await shown.keyboard.press("Enter");
  await shown.getByRole("link", { name: "A talk" }).waitFor();
  await both();
  await looks(shown, "money");
  await shown.context().close();
});

const save = async (shown) => {
  await shown.getByRole("button", { name: /^Look at/ }).click();
  await shown.getByRole("dialog").getByRole("button", { name: "Save" }).click();
};

test("policy: the error stands at its field, and a change is seen before it is sent", async () => {
  const shown = await page(opened);
  await open(shown, served, token, "/policy");
  await shown.getByLabel("recall_threshold").fill("3");
  await shown.getByLabel("card_number").selectOption("redact");
  await shown.getByRole("button", { name: "Look at 2 changes" }).click();
  const asked = await shown.getByRole("dialog").innerText();
  assert.match(asked, /pii\.card_number\s+block, the default\s*→\s*redact/);
  assert.match(asked, /recall_threshold\s+0\.7, the default\s*→\s*3/);
  await shown.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  const field = shown.getByLabel("recall_threshold");
  await shown.getByText("must be less than or equal to 1").waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.equal(await field.inputValue(), "3", "what was typed is there");
  shown.wrong = shown.wrong.filter((one) => !one.includes("422"));
  await field.fill("0.65");
  await save(shown);
  await shown.getByText("Saved.").waitFor();
  const { policy } = await served.api("GET", "/policy");
  assert.deepEqual(policy, { chat_model: "claude-sonnet-5", recall_limit: 6, recall_threshold: 0.65, pii: { card_number: "redact" } });
  await shown.locator("[data-path=recall_threshold]").getByRole("button", { name: "back to the default, 0.7" }).click();
  assert.equal(await field.inputValue(), "0.7");
  await save(shown);
  await shown.getByText("Saved.").waitFor();
  assert.equal((await served.api("GET", "/policy")).policy.recall_threshold, undefined);
  await looks(shown, "policy");
  await shown.context().close();
});

test("policy: who was slower sees both, and loses neither", async () => {
  const shown = await page(opened);
  await open(shown, served, token, "/policy");
  await shown.getByLabel("recall_limit").fill("9");
  await served.api("PATCH", "/policy", { recall_limit: 7, min_importance: 3 });
  await save(shown);
  const note = shown.getByRole("alert").filter({ hasText: "Somebody else changed the policy" });
  await note.waitFor();
  assert.match(await note.innerText(), /recall_limit\s+there now: 7\s+yours: 9/);
  assert.match(await note.innerText(), /min_importance\s+there now: 3/);
  shown.wrong = shown.wrong.filter((one) => !one.includes("412"));
  await note.getByRole("button", { name: "Put my changes on top" }).click();
  assert.equal(await shown.getByLabel("min_importance").inputValue(), "3");
  await save(shown);
  await shown.getByText("Saved.").waitFor();
  const { policy } = await served.api("GET", "/policy");
  assert.deepEqual([policy.recall_limit, policy.min_importance], [9, 3]);
  await looks(shown, "policy");
  await shown.context().close();
});

test("work: what failed is told with its reason and the way out, what is under way ends by itself", async () => {
  const { api, control } = served;
  await api("POST", `/users/${USER}/sessions/s1/events`, { events: [{ event_type: "user_message", content: "I live in Porto." }, { event_type: "assistant_response", content: "Noted." }] });
  await served.settled();
  const broken = await api("POST", `/users/${USER}/export`);
  await served.settled();
  await api("POST", `/users/${USER}/sessions/s1/events/retract`, { from_seq: 1, to_seq: 2, reason: "deleted" });
  await served.settled();
  await control("pause", { worker: "jobs" });
  const { id } = await api("POST", `/users/${USER}/export`);
  const shown = await page(opened);
  await shown.clock.install();
  await open(shown, served, token, "/work");
  const failed = shown.locator(".box").filter({ has: shown.locator(`a[href*="${broken.id}"]`) });
  assert.match(await failed.innerText(), /Messages of the user were deleted after it began/);
  await failed.getByRole("link", { name: "Another export" }).waitFor();
  const row = shown.locator(`table a[href*="${id}"]`);
  await row.waitFor();
  assert.match(await tile(shown, "Under way").innerText(), /1\s+1 × export/);
  assert.match(await tile(shown, "Service").innerText(), /ok\s+version \d/);
  await looks(shown, "work");

  let asked = 0;
  shown.on("request", (request) => request.url().endsWith("/v1/admin/work") && asked++);
  const hide = (hidden) => shown.evaluate((to) => {
    Object.defineProperty(document, "visibilityState", { value: to ? "hidden" : "visible", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await hide(true);
  await shown.clock.runFor(60_000);
  assert.equal(asked, 0, "nobody looks");
  await hide(false);
  await control("resume", {});
  await served.settled();
  await shown.clock.runFor(10_000);
  await row.waitFor({ state: "detached" });
  assert.ok(asked > 0);
  await shown.context().close();
});
