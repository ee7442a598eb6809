/* What the model saw: the parts of the request, the cached prefix, what was left out. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browser, loaded, looks, open, page, server } from "./scene.mjs";

const served = await server({ after });
const opened = await browser({ after });
const { api, control } = served;
const USER = "ada";
const of = `/users/${USER}`;
const said = (content, answer) => [{ event_type: "user_message", content }, { event_type: "assistant_response", content: answer }];

await api("PATCH", "/policy", { static_prefix: { identity: "You are the assistant of a moving company. ".repeat(160), version: "1.0.0" }, chat_model: "claude-sonnet-5" });
await api("POST", `${of}/memories`, { text: "Ada is allergic to walnuts.", kind: "note" });
await api("POST", `${of}/sessions`, { session_id: "old" });
await api("POST", `${of}/sessions/old/events`, { events: said("I have a piano.", "The piano 🎹🎹 goes through the window of the second floor.") });
await api("POST", `${of}/sessions/old/observe`);
await served.settled();
await control("pause", { worker: "extract" }); // what a pass made of this talk would be a part of its prompts
await api("POST", `${of}/sessions`, { session_id: "talk" });
await api("POST", `${of}/sessions/talk/events`, { events: said("I move on Tuesday.", "Tuesday it is.") });
await served.settled();
await api("POST", `${of}/context`, { session_id: "talk", message: "Hello again." });

const part = (shown, name) => shown.locator("details.part", { has: shown.locator("summary b", { hasText: new RegExp(`^${name}$`) }) });

test("a message that is typed shows the request part by part, and writes nothing", async () => {
  const kept = async () => {
    const { memory_lag, ...session } = await api("GET", `${of}/sessions/talk`); // it grows older by itself
    return JSON.stringify([await api("GET", `${of}/recalls`), session]);
  };
  const before = await kept();
  const shown = await page(opened);
  await open(shown, served, await served.token(USER), "/prompt?session=talk");
  await shown.getByRole("heading", { name: "The newest message, as if it were said again now" }).waitFor();
  const message = "Is the window wide enough for the piano 🎹? \u202eodd";
  await shown.getByLabel("What the user says").fill(message);
  await shown.getByRole("button", { name: "Show what the model would see" }).click();
  await shown.getByRole("heading", { name: "If this were said now" }).waitFor();
  await loaded(shown);
  const dry = await api("POST", `${of}/context`, { session_id: "talk", message, dry_run: true, with_request: true });
  const names = await shown.locator("details.part > summary b").allInnerTexts();
  assert.deepEqual(names, ["System: the tenant's prefix", "Pack", "History", "Retrieved", "Clock and session", "Message"]);
  assert.equal(names.length, dry.parts.length);
  for (const [at, summary] of (await shown.locator("details.part > summary").allInnerTexts()).entries()) {
    assert.ok(summary.includes(`${dry.parts[at].tokens.toLocaleString("en")} tok`), summary);
    assert.ok(summary.includes(at < 3 ? "in the cached prefix" : "new in this turn"), summary);
  }
  const text = async (name) => part(shown, name).innerText();
  assert.match(await text("Pack"), /Ada is allergic to walnuts/);
  assert.match(await text("History"), /user\s+I move on Tuesday\.\s+assistant\s+Tuesday it is\./);
  assert.match(await text("Retrieved"), /piano 🎹🎹 goes through the window/);
  assert.match(await text("Clock and session"), /<neve-session>[^]*<\/neve-session>/, "cut by whole characters");
  assert.match(await text("Message"), /the piano 🎹\? ⟪U\+202E⟫odd$/);
  assert.equal(await kept(), before);
  await control("resume", {});
  await looks(shown, "prompt");
});

test("the turn that waits for its answer is shown without a word being typed", async () => {
  await api("POST", `${of}/sessions`, { session_id: "open" });
  await api("POST", `${of}/sessions/open/events`, { events: [{ event_type: "user_message", content: "Who carries the piano?" }] });
  const shown = await page(opened, { width: 360, height: 740 });
  await open(shown, served, await served.token(USER), "/prompt?session=open");
  await shown.getByRole("heading", { name: "The turn that waits for its answer" }).waitFor();
  assert.match(await part(shown, "Message").innerText(), /Who carries the piano\?/);
  await looks(shown, "prompt on a phone");
});

test("what has no room is named, with why; what cannot be made a prompt is refused below the message", async () => {
  await api("PATCH", "/policy", { budget_profile: { total: 5000, output: 1000, system: 2200, memories: 500, history: 800 }, static_prefix: { identity: "You are brief.", version: "2.0.0" } });
  await api("POST", `${of}/sessions`, { session_id: "full" });
  for (let at = 0; at < 12; at++) await api("POST", `${of}/sessions/full/events`, { events: said(`Box ${at} is heavy. ${"It holds books about bees. ".repeat(20)}`, "Noted.") });
  const shown = await page(opened, { colorScheme: "dark" });
  await open(shown, served, await served.token(USER), "/prompt?session=full");
  const box = shown.getByRole("region", { name: "Left out, and why" });
  await box.getByText(/events \d+ to \d+ are summarised/).waitFor();
  await looks(shown, "what was left out");
  const long = "far too long ".repeat(3000);
  await shown.getByLabel("What the user says").fill(long);
  await shown.getByRole("button", { name: "Show what the model would see" }).click();
  await shown.getByRole("alert").getByText("budget_infeasible").waitFor();
  assert.equal((await shown.getByLabel("What the user says").inputValue()).length, long.length);
});

test("a prefix that is too short for the cache says so", async () => {
  const shown = await page(opened);
  await open(shown, served, await served.token(USER), "/prompt?session=open");
  await shown.getByText(/not cached \(below the minimum: [\d,]+ of 1,024 tokens\)/).first().waitFor();
  assert.match(await shown.locator(".bar").first().getAttribute("aria-label"), /^System: the tenant's prefix \d+, Pack \d+, .*Message \d+$/);
});
