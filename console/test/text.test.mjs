/* What others wrote is text and nothing else: in the list, in a memory's life, in a conversation, in the inbox. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browser, looks, open, page, server } from "./scene.mjs";

const MARKUP = '<img src=x onerror="window.ran=1"><script>window.ran=1</script><svg onload="window.ran=1"> [link](javascript:window.ran=1)';
const UNSEEN = "bidi \u202etxt.exe\u202c zero\u200bwidth end";
const AS_MARKS = "bidi ⟪U+202E⟫txt.exe⟪U+202C⟫ zero⟪U+200B⟫width end";
/** The service refuses such a character: it can be typed, and nothing more. */
const BELL = "\u0007";
const WORD = "w".repeat(100_000);
const OURS = "/users/ann";

const served = await server({ after });
const { api } = served;
const ids = {};
for (const [name, text] of Object.entries({ markup: MARKUP, unseen: UNSEEN, word: WORD.slice(0, 64_000) })) {
  ids[name] = (await api("POST", `${OURS}/memories`, { kind: "note", text, label: text.slice(0, 100), tags: [text.slice(0, 100)] })).id;
  await api("POST", `${OURS}/memories`, { kind: "fact", category: "PLACE", by: "assistant", text: `${text.slice(0, 400)} ` });
}
await api("POST", `${OURS}/sessions`, { session_id: "s1", title: MARKUP });
const events = [MARKUP, UNSEEN, WORD].flatMap((text, at) => [
  { event_type: "user_message", content: text, name: text.slice(0, 60) },
  { event_type: "tool_call", content: "", event_data: { tool_use_id: `t${at}`, name: "look", args: { [text.slice(0, 200)]: text.slice(0, 2000) } } },
  { event_type: "tool_result", content: JSON.stringify({ said: text.slice(0, 9000) }), event_data: { tool_use_id: `t${at}`, name: "look" } },
  { event_type: "assistant_response", content: text },
]);
await api("POST", `${OURS}/sessions/s1/events`, { events });
const opened = await browser({ after });
const token = await served.token("ann");

/** No element came of it, nothing ran, and nothing is wider than the page: on a phone, where that shows first. */
async function harmless(shown, name) {
  assert.equal(await shown.locator("main img, main script, main iframe, main svg, main [onerror], main a[href^='javascript']").count(), 0, name);
  assert.equal(await shown.evaluate(() => window.ran), undefined, name);
  await looks(shown, name);
}
const words = (shown, of = "body") => shown.locator(of).innerText();

test("in the list of memories and in the inbox", async () => {
  const shown = await page(opened, { width: 360, height: 740 });
  for (const view of ["/memories", "/inbox"]) {
    await open(shown, served, token, view);
    const all = await words(shown);
    assert.ok(all.includes(MARKUP), `${view}: markup as it was written`);
    assert.ok(all.includes(AS_MARKS), `${view}: what cannot be seen is marked`);
    await harmless(shown, view);
  }
});

test("in a memory's life, its edit and the question before it is forgotten", async () => {
  const shown = await page(opened, { width: 360, height: 740, colorScheme: "dark" });
  for (const [name, expected] of [["markup", MARKUP], ["unseen", AS_MARKS], ["word", "show all 64,000 letters"]]) {
    await open(shown, served, token, `/memory/${ids[name]}`);
    assert.ok((await words(shown)).includes(expected), name);
    await shown.getByRole("button", { name: "Edit" }).click();
    await shown.getByLabel("What it says").fill(`More ${BELL}`);
    await shown.getByRole("button", { name: "Save" }).click();
    await shown.getByRole("alert").getByText("holds a control character (U+0007)").first().waitFor();
    assert.equal(await shown.getByLabel("What it says").inputValue(), `More ${BELL}`);
    assert.match(shown.wrong.splice(0).join(), /^[^,]* 422 [^,]*$/);
    await harmless(shown, `${name}, edited`);
    await shown.getByRole("button", { name: "Forget…" }).click();
    const asks = shown.getByRole("dialog");
    await asks.getByText("It cannot be brought back.").waitFor();
    await harmless(shown, `${name}, to be forgotten`);
    await asks.getByRole("button", { name: "Keep it" }).click();
  }
});

test("in a conversation, its tool calls among it", async () => {
  const shown = await page(opened, { width: 360, height: 740 });
  await open(shown, served, token, "/conversation?session=s1");
  const all = await words(shown);
  assert.ok(all.includes(MARKUP), "in the title");
  assert.ok(all.includes("called look with <img src=x"), "a call is a sentence");
  assert.ok(all.includes(AS_MARKS), "what cannot be seen is marked");
  await harmless(shown, "the log");
  for (const seq of [2, 3, 5, 9, 10, 11]) {
    await open(shown, served, token, `/conversation?session=s1&seq=${seq}`);
    await shown.getByRole("dialog", { name: `#${seq}` }).waitFor();
    for (const folded of await shown.locator("dialog summary").all()) await folded.click();
    await harmless(shown, `#${seq}`);
  }
  await open(shown, served, token, "/conversation?session=s1&seq=9");
  await shown.getByRole("button", { name: "show all 100,000 letters" }).click();
  assert.ok((await words(shown, "dialog")).includes(WORD));
  await harmless(shown, "100 KB in one word");
});
