/* Why something was recalled and why not, and the versions of a pack. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browser, loaded, looks, open, page, PATIENCE_MS, pause, server } from "./scene.mjs";

const served = await server({ after });
const opened = await browser({ after });
const { api, control } = served;
const USER = "ada";
const of = `/users/${USER}`;
const said = (content, answer) => [{ event_type: "user_message", content }, { event_type: "assistant_response", content: answer }];

const ids = {};
for (const [name, text, more] of [["tea", "Ada drinks green tea in the morning."], ["train", "Ada takes the night train to Lyon."], ["secret", "Ada drinks tea against her fear of trains.", { never_recall: true }]]) {
  ids[name] = (await api("POST", `${of}/memories`, { text, kind: "note", ...more })).id;
}
ids.new = (await api("POST", `${of}/memories/${ids.tea}/evolve`, { text: "Ada drinks black tea in the morning.", reason: "She said so." })).id;
await api("POST", `${of}/sessions`, { session_id: "talk", title: "Tea" });
await api("POST", `${of}/sessions/talk/events`, { events: [...said("I drink tea with milk \u202enow.", "Noted, tea with milk."), ...said("I always take my tea to work.", "Noted, tea at work.")] });
await served.settled();

test("a question that is tried shows both legs side by side, and what was dropped and why", async () => {
  const shown = await page(opened);
  await open(shown, served, await served.token(USER), "/recall");
  await shown.getByLabel("Try a question").fill("tea in the morning");
  await shown.keyboard.press("Enter");
  await shown.getByRole("heading", { name: "tea in the morning" }).waitFor();
  await loaded(shown);
  const id = new URL(shown.url()).hash.match(/rcl_\w+/)[0];
  const record = await api("GET", `${of}/recalls/${id}`);
  const hits = record.hits.filter((hit) => hit.outcome === "returned");
  const rows = await shown.locator("table.legs tbody tr").allInnerTexts();
  assert.equal(rows.length, hits.length);
  assert.ok(rows[0].includes("Ada drinks black tea in the morning."), rows[0]);
  const { rank_lex, bm25, rank_vec, prior, final } = hits[0].components;
  for (const cell of [`#${rank_lex} ${bm25.toFixed(2)}`, `#${rank_vec} `, prior.toFixed(2), final.toFixed(4)]) assert.ok(rows[0].includes(cell), `${cell} in ${rows[0]}`);
  assert.ok(rows.some((row) => row.includes("⟪U+202E⟫")) || !hits.some((hit) => hit.id === "evt:talk:1"), "what cannot be seen is marked");
  const dropped = record.hits.filter((hit) => hit.outcome !== "returned");
  assert.ok(dropped.length > 0);
  const counts = await shown.locator("details summary .badge").allInnerTexts();
  assert.equal(counts.reduce((sum, count) => sum + Number(count), 0), dropped.length, "every candidate is there");
  await looks(shown, "one recall");
});

test("why not this one: a memory by its words, one that is replaced, and an id that there is not", async () => {
  const shown = await page(opened, { width: 360, height: 740 });
  const { recall_id } = await api("POST", `${of}/recall`, { query: "tea in the morning" });
  await open(shown, served, await served.token(USER), `/recall/${recall_id}`);
  const box = shown.getByRole("region", { name: "Why not this one?" });
  const ask = async (words, pick) => {
    await box.getByLabel("Words of a memory").fill(words);
    await (pick ? box.getByRole("button", { name: pick }).click() : shown.keyboard.press("Enter"));
    await loaded(shown);
  };
  await ask("fear of trains", /against her fear/);
  await box.getByText("It is set to be never recalled").waitFor();
  await ask("green tea", /green tea.*superseded/);
  await box.getByText(/status kept it out.*it is superseded now/).waitFor();
  await shown.reload();
  assert.ok(shown.url().includes(`why=${ids.tea}`), "a reload finds it again");
  await open(shown, served, await served.token(USER), `/recall/${recall_id}?why=${ids.new}`);
  await box.getByText("It was among the hits").waitFor();
  await looks(shown, "why not");
  await ask("mem_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  await box.getByText("There is no such memory, or it is deleted").waitFor();
});

test("a leg that failed is said where one looks", async () => {
  const shown = await page(opened);
  await control("faults", [{ target: "embed", fault: "error" }]);
  const { recall_id, degraded } = await api("POST", `${of}/recall`, { query: "which night train" });
  await control("faults", []);
  assert.ok(degraded.length > 0);
  await open(shown, served, await served.token(USER), `/recall/${recall_id}`);
  await shown.getByText("vector: embed error").waitFor();
  await shown.getByText(/Vector leg\s*error/).waitFor();
  assert.ok((await shown.locator("table.legs tbody tr").first().innerText()).includes("not found"), "no place in the vector leg");
  await open(shown, served, await served.token(USER), "/recall");
  await shown.getByRole("row").first().getByText("vector: embed error").waitFor();
  await looks(shown, "recalls");
});

test("a pack's versions: why each was built, its lines, what the change cost", async () => {
  const session = `${of}/sessions/talk`;
  await api("PATCH", "/policy", { chat_model: "claude-sonnet-5" });
  await api("POST", `${session}/observe`);
  await served.settled();
  const prompt = async (usage) => {
    const { prompt_id } = await api("POST", `${of}/context`, { session_id: "talk", message: "And coffee?" });
    await api("POST", `${of}/usage`, { prompt_id, usage });
  };
  const versions = async () => (await api("GET", `${of}/pack/versions?session_id=talk`)).versions;
  await prompt({ input: 50, cache_read: 0, cache_write: 2000, output: 20 });
  for (const [at, from_seq] of [3, 1].entries()) {
    await api("POST", `${session}/events/retract`, { from_seq, to_seq: from_seq + 1, reason: "edited" });
    for (const end = Date.now() + PATIENCE_MS; (await versions()).length < at + 2; await pause(200)) {
      await served.settled();
      assert.ok(Date.now() < end, "one more version");
    }
  }
  await prompt({ input: 50, cache_read: 500, cache_write: 1600, output: 20 });
  const shown = await page(opened, { colorScheme: "dark" });
  await open(shown, served, await served.token(), `/packs?user=${USER}&session=talk`);
  const [newest, , first] = await shown.getByRole("group", { name: "Versions" }).locator("tbody tr").all();
  assert.match(await newest.innerText(), /v\d.*memories folded or taken back.*\d tok.*\$0\.00\d+ reported/s);
  assert.match(await first.innerText(), /v\d.*first pack.*≥ \d+ tok \$0\.00\d+/s);
  await shown.getByText(/Lines: \d+ added, [1-9]\d* removed/).waitFor();
  assert.match(await shown.locator("del").first().innerText(), /tea with milk/);
  await shown.locator("summary", { hasText: "The whole text" }).click();
  await shown.getByText('<neve-memory format="1">').waitFor();
  assert.ok(!(await shown.locator("details", { hasText: "The whole text" }).innerText()).includes("with milk"), "the newest does not say it");
  await looks(shown, "packs");
});
