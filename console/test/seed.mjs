/* What the pages are driven on: two users with everything that a view can show, and a third who was erased. */
import assert from "node:assert/strict";
import { pause } from "./scene.mjs";

export const A = "ada";
export const B = "bob";
export const GONE = "carol";
export const SESSION = "moving";
/** What stands in a memory, and may never be more than text. */
export const MARKUP = '<img src=x onerror="document.title=1"> <script>document.title=2</script> **bold** [link](https://example.com)';
export const BIDI = "The file is called \u202egpj.exe\u202c and \u2066looks\u2069 harmless\u200b.";
export const SCRIPTS = "مرحبا بالعالم — 東京で寿司を食べた 🍣 — Ærø";
export const LONG = "unbroken".repeat(8000);
export const SECRET_OF_B = "Bob is afraid of spiders.";
const PATIENCE_MS = 120_000;

/** Returns the ids that tests name. */
export async function seed(served) {
  const { api } = served;
  const erased = await erasure(served);
  await api("PATCH", "/policy", { static_prefix: { identity: "You are the assistant of a moving company. ".repeat(160), version: "1.0.0" }, write_tools: "propose", compaction_trigger: 2000, chat_model: "claude-sonnet-5" });
  const ids = await memories(api);
  await conversation(api);
  const versions = await packs(api);
  const recall = await recalls(api);
  await prompts(api);
  await api("POST", `/users/${A}/tools/remember`, { session_id: SESSION, arguments: { text: "Ada wants the piano moved first.", category: "PREFERENCE" } });
  return { ...ids, versions, recall, jobs: { erased, ...(await jobs(api)) } };
}

async function memories(api) {
  const of = (user) => (text, more = {}) => api("POST", `/users/${user}/memories`, { text, kind: "note", ...more });
  const ada = of(A);
  const town = await ada("Ada lives in Lisbon.", { kind: "fact", category: "BIOGRAPHY" });
  const town2 = await api("POST", `/users/${A}/memories/${town.id}/evolve`, { text: "Ada lives in Porto.", reason: "She moved." });
  const pinned = await ada("Ada is allergic to walnuts.", { kind: "manual", priority: "high", tags: ["health"] });
  const never = await ada("Ada is in therapy.", { never_recall: true });
  const resolved = await ada("Ada waits for the keys.");
  await api("PATCH", `/users/${A}/memories/${resolved.id}`, { status: "resolved" });
  const archived = await ada("Ada had a parking space.");
  await api("PATCH", `/users/${A}/memories/${archived.id}`, { status: "archived" });
  await ada("Ada has a lease until March.", { valid_until: "2026-03-01T00:00:00Z" });
  const markup = await ada(MARKUP);
  const bidi = await ada(BIDI);
  await ada(SCRIPTS, { label: "scripts" });
  const long = await ada(LONG);
  const secret = await of(B)(SECRET_OF_B, { kind: "fact", category: "PREFERENCE" });
  await api("PUT", `/users/${A}/documents?path=${encodeURIComponent("/profile/flat")}`, { text: "# Flat\n\nThird floor, no lift." });
  return { town: town.id, town2: town2.id, pinned: pinned.id, never: never.id, markup: markup.id, bidi: bidi.id, long: long.id, secret: secret.id };
}

async function conversation(api) {
  for (const [user, title] of [[A, "Moving to Porto"], [B, "Spiders"]]) {
    await api("POST", `/users/${user}/sessions`, { session_id: SESSION, title, user_meta: { name: user === A ? "Ada" : "Bob", timezone: "Europe/Lisbon" } });
  }
  await api("POST", `/users/${B}/sessions/${SESSION}/events`, { events: said("I saw a spider in the cellar.", "Shall I call somebody?") });
  const topics = ["boxes", "the piano", "the lamp from my grandmother", "a van", "the cat", "the plants", "books about bees", "insurance"];
  for (const [at, topic] of topics.entries()) {
    const events = said(`I want to know how ${topic} will be moved. My budget is ${400 + at * 50} euros and I prefer Tuesdays.`, `Noted: ${topic}, at most ${400 + at * 50} euros. ${"We pack it with care. ".repeat(8)}`);
    if (at === 3) events.splice(1, 0, ...called());
    await api("POST", `/users/${A}/sessions/${SESSION}/events`, { events });
  }
  await done(api, A, await api("POST", `/users/${A}/sessions/${SESSION}/observe`, { wait: true }));
}

const said = (content, answer) => [{ event_type: "user_message", content }, { event_type: "assistant_response", content: answer }];

const called = () => [
  { event_type: "tool_call", content: "", event_data: { tool_use_id: "call_1", name: "find_van", args: { day: "Tuesday", litres: 12_000 } } },
  { event_type: "tool_result", content: '{"vans": [{"id": 7, "price": 180}]}', event_data: { tool_use_id: "call_1", name: "find_van" } },
];

/** Versions by each of the three triggers: read for the first time, words taken back, a compaction. */
async function packs(api) {
  const of = `/users/${A}/sessions/${SESSION}`;
  await api("GET", `/users/${A}/pack?session_id=${SESSION}`);
  const { events } = await api("GET", `${of}/events?limit=200`);
  const insurance = events.filter((one) => JSON.stringify(one.content).includes("insurance"));
  assert.ok(insurance.length, "the talk about insurance");
  const retracted = await api("POST", `${of}/events/retract`, { from_seq: insurance[0].seq, to_seq: insurance.at(-1).seq, reason: "deleted" });
  if (retracted.job_id) await done(api, A, { id: retracted.job_id });
  await until(async () => (await versionsOf(api)).length >= 2, "a pack without what was taken back");
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < 6; at++) {
      await api("POST", `${of}/events`, { events: said(`Round ${round}: I need ${at + 2} more boxes, and I moved my desk to room ${at}.`, "I will bring them. ".repeat(30)) });
    }
    await done(api, A, await api("POST", `${of}/observe`, { wait: true }));
    await api("POST", `/users/${A}/memories`, { text: `Ada has ${12 + round} boxes of books.`, kind: "note" });
    await done(api, A, await api("POST", `${of}/compact`, { wait: true }));
  }
  await until(async () => (await versionsOf(api)).length >= 3, "a pack behind the compaction");
  return (await versionsOf(api)).map((one) => one.pack_version);
}

const versionsOf = async (api) => (await api("GET", `/users/${A}/pack/versions?session_id=${SESSION}`)).versions;

async function recalls(api) {
  let recall_id;
  for (const query of ["Where does Ada live?", "How is the piano moved?", "walnuts", "What about spiders?"]) {
    const found = await api("POST", `/users/${A}/recall`, { query, session_id: SESSION, mode: "tool", debug: true });
    recall_id ??= found.recall_id;
  }
  return recall_id;
}

/** Compiled and reported: the first prompt writes the cache, the others read it. */
async function prompts(api) {
  for (let turn = 0; turn < 4; turn++) {
    const prompt = await api("POST", `/users/${A}/context`, { session_id: SESSION, message: `What day is best, ${turn}?` });
    const usage = turn ? { input_tokens: 150, cache_read_input_tokens: 2400, cache_creation_input_tokens: 60, output_tokens: 90 } : { input_tokens: 150, cache_read_input_tokens: 0, cache_creation_input_tokens: 2400, output_tokens: 90 };
    await api("POST", `/users/${A}/usage`, { prompt_id: prompt.prompt_id, usage });
  }
}

/** It waits for sixteen minutes before it counts what is left: first of all, by a clock that is put on and back. */
async function erasure({ api, control }) {
  await api("POST", `/users/${GONE}/memories`, { text: "Carol leaves.", kind: "note" });
  const { id } = await api("DELETE", `/users/${GONE}`);
  const read = () => api("GET", `/admin/jobs/${id}`);
  await until(async () => {
    for (const [name, given] of [["drain", {}], ["clock", { advance_s: 1200 }], ["run", { worker: "sweep" }], ["drain", {}]]) await control(name, given);
    return (await read()).status === "done";
  }, "the end of an erasure");
  await control("clock", {});
  return id;
}

async function jobs(api) {
  const exported = await done(api, A, await api("POST", `/users/${A}/export`));
  const reflecting = await api("POST", "/admin/reflect", { user_id: A, min_age_days: 0 });
  const reflected = await doneJob(() => api("GET", `/admin/jobs/${reflecting.id}`));
  return { exported: exported.id, reflected: reflected.id };
}

async function done(api, user, job) {
  return job.id ? doneJob(() => api("GET", `/users/${user}/jobs/${job.id}`)) : job;
}

async function doneJob(read) {
  let job;
  await until(async () => ["done", "failed"].includes((job = await read()).status), "the end of a job");
  assert.equal(job.status, "done", JSON.stringify(job));
  return job;
}

async function until(holds, what) {
  const end = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `waited too long for ${what}`);
    await pause(300);
  }
}
