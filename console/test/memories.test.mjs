/* What one does with memories in the browser: edit, replace, keep out of recall, forget one and several; and what is typed stays. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { browser, loaded, open, page, server } from "./scene.mjs";

const opened = async (t) => {
  const served = await server(t);
  const shown = await page(await browser(t));
  return { served, shown };
};
const remember = (served, text, more = {}) => served.api("POST", "/users/ann/memories", { kind: "note", text, ...more });
const read = (served, id) => served.api("GET", `/users/ann/memories/${id}`);
const field = (shown) => shown.getByLabel("What it says");

test("memories", async (t) => {
  const { served, shown } = await opened(t);
  const token = await served.token("ann");

  await t.test("an edit that comes too late shows both texts, and saves what the person makes of them", async () => {
    const { id, rev } = await remember(served, "Ann drinks tea.");
    await open(shown, served, token, `/memory/${id}`);
    await shown.getByRole("button", { name: "Edit" }).click();
    await field(shown).fill("Ann drinks green tea.");
    await served.api("PATCH", `/users/ann/memories/${id}`, { text: "Ann drinks coffee." }, { "If-Match": `"${rev}"` });
    await shown.getByRole("button", { name: "Save" }).click();
    await shown.getByText("Somebody else changed it meanwhile.").waitFor();
    assert.equal(await shown.locator(".theirs").innerText(), "Ann drinks coffee.");
    assert.equal(await shown.locator(".mine").innerText(), "Ann drinks green tea.");
    assert.equal(await field(shown).inputValue(), "Ann drinks green tea.");
    assert.equal((await read(served, id)).text, "Ann drinks coffee.", "nothing is written over unasked");
    await shown.getByRole("button", { name: "Take this one" }).click();
    assert.equal(await field(shown).inputValue(), "Ann drinks coffee.");
    assert.equal(await shown.locator(".mine").innerText(), "Ann drinks green tea.", "and what was typed is there still");
    await shown.getByRole("button", { name: "Take mine" }).click();
    await field(shown).fill("Ann drinks coffee and green tea.");
    await shown.getByRole("button", { name: "Save over what is there now" }).click();
    await shown.getByRole("form", { name: "Edit" }).waitFor({ state: "detached" });
    assert.equal((await read(served, id)).text, "Ann drinks coffee and green tea.");
    assert.deepEqual(shown.wrong.splice(0).filter((one) => !one.includes("412")), []);
  });

  await t.test("a token that ends in the middle of an edit loses nothing", async () => {
    const { id } = await remember(served, "Ann rides a bicycle.");
    await open(shown, served, await served.token("ann", ["records", "chat"], 60), `/memory/${id}`);
    await shown.getByRole("button", { name: "Edit" }).click();
    await field(shown).fill("Ann rides a red bicycle.");
    await served.control("clock", { advance_s: 3600 });
    await shown.getByRole("button", { name: "Save" }).click();
    const asked = shown.getByRole("dialog", { name: "A new token, please" });
    await asked.waitFor();
    assert.equal((await read(served, id)).text, "Ann rides a bicycle.");
    await asked.getByLabel("Token").fill(await served.token("ann"));
    await asked.getByRole("button", { name: "Go on" }).click();
    await shown.getByRole("form", { name: "Edit" }).waitFor({ state: "detached" });
    assert.equal((await read(served, id)).text, "Ann rides a red bicycle.", "the save went on by itself");
    shown.wrong.splice(0);
  });

  await t.test("what is typed is there after a look at another view", async () => {
    const { id } = await remember(served, "Ann has a cat.");
    await open(shown, served, await served.token("ann"), `/memory/${id}`);
    await shown.getByRole("button", { name: "Edit" }).click();
    await field(shown).fill("Ann has two cats.");
    await shown.getByRole("navigation").getByRole("link", { name: "Memories" }).click();
    await shown.getByRole("grid", { name: "Memories" }).waitFor();
    await shown.goBack();
    assert.equal(await field(shown).inputValue(), "Ann has two cats.");
  });

  await t.test("a memory is replaced, kept out of recall, put away and restored", async () => {
    const { id } = await remember(served, "Ann lives in Porto.");
    await open(shown, served, await served.token("ann"), `/memory/${id}`);
    await shown.getByRole("button", { name: "Never recall" }).click();
    await shown.getByRole("button", { name: "Recall again" }).waitFor();
    assert.equal((await read(served, id)).never_recall, true);
    await shown.getByRole("button", { name: "Archive" }).click();
    await shown.getByRole("button", { name: "Restore" }).click();
    await shown.getByRole("button", { name: "Something else holds now" }).click();
    await shown.getByLabel("What holds now").fill("Ann lives in Lisbon.");
    await shown.getByLabel("Why").fill("she moved");
    await shown.getByRole("button", { name: "Put it in the place of the old one" }).click();
    await shown.getByRole("heading", { name: "Ann lives in Lisbon." }).waitFor();
    const chain = shown.getByRole("list").filter({ hasText: "she moved" });
    assert.match(await chain.innerText(), /Ann lives in Porto\.[^]*she moved[^]*Ann lives in Lisbon\./);
    await chain.getByRole("link", { name: "Ann lives in Porto." }).click();
    await shown.getByRole("button", { name: "Restore in the place of what holds now" }).click();
    await shown.getByRole("list").filter({ hasText: "put back by a person" }).waitFor();
    const { superseded_by: last, status } = await read(served, (await read(served, id)).superseded_by);
    assert.equal(status, "superseded");
    assert.equal((await read(served, last)).text, "Ann lives in Porto.");
  });

  await t.test("to forget says first what goes and what stays", async () => {
    await served.api("POST", "/users/ann/sessions", { session_id: "s1" });
    const said = [{ event_type: "user_message", content: "I live in Faro." }, { event_type: "assistant_response", content: "Nice." }];
    await served.api("POST", "/users/ann/sessions/s1/events", { events: said });
    await served.api("POST", "/users/ann/sessions/s1/observe");
    await served.settled();
    const { memories } = await served.api("GET", "/users/ann/memories?session_id=s1&kind=fact");
    const { id, text } = memories.find((one) => one.text.includes("Faro"));
    await served.api("POST", "/users/ann/sessions", { session_id: "s2" });
    await open(shown, served, await served.token("ann"), `/memory/${id}`);
    await shown.getByText("I live in Faro.").waitFor();
    await shown.getByRole("button", { name: "Forget…" }).click();
    const asks = shown.getByRole("dialog", { name: "Forget this memory?" });
    await asks.getByRole("link", { name: /the messages #1/ }).waitFor();
    assert.match(await asks.innerText(), /cannot be brought back/);
    assert.equal((await read(served, id)).text, text, "nothing is gone yet");
    await asks.getByRole("button", { name: "Forget it" }).click();
    const receipt = shown.getByRole("dialog", { name: "Forgotten" });
    await receipt.getByRole("link", { name: /the messages #1/ }).waitFor();
    await assert.rejects(read(served, id), /404/);
    await receipt.getByRole("button", { name: "Close" }).click();
    await shown.getByRole("grid", { name: "Memories" }).waitFor();
  });

  await t.test("several are forgotten as they were listed", async () => {
    for (const one of [1, 2, 3]) await remember(served, `Reads book ${one}.`, { kind: "manual" });
    await open(shown, served, await served.token("ann"), "/memories");
    assert.equal(await shown.getByRole("button", { name: "forget these…" }).count(), 0, "not without a filter");
    await shown.getByLabel("Kind").selectOption("manual");
    await shown.getByRole("button", { name: "forget these…" }).click();
    const asks = shown.getByRole("dialog", { name: "Forget 3 memories?" });
    await asks.getByText("Reads book 2.").waitFor();
    await asks.getByRole("button", { name: "Forget 3 memories" }).click();
    await shown.getByText("3 memories are gone").waitFor();
    assert.deepEqual((await served.api("GET", "/users/ann/memories?kind=manual")).memories, []);
  });

  await t.test("the list is searched by words and by meaning, and shown as of a time", async () => {
    const lines = [["2020-01-01", "Played the violin."], ["2022-01-01", "Played the tuba."]].map(([day, text]) => JSON.stringify({ kind: "note", text, created_at: `${day}T00:00:00Z`, observed_at: `${day}T00:00:00Z` }));
    await served.api("POST", "/users/bob/memories/import", lines.join("\n"), { "Content-Type": "application/jsonl" });
    await served.settled();
    await open(shown, served, await served.token("bob"), "/memories");
    const rows = () => shown.getByRole("row").allInnerTexts().then((texts) => texts.map((text) => text.split("\n")[0]));
    assert.deepEqual(await rows(), ["Played the tuba.", "Played the violin."]);
    await shown.getByRole("slider").press("Home");
    await shown.getByText("The memory as of Jan 1, 2020").waitFor();
    await shown.getByRole("status").filter({ hasText: "1 memories" }).waitFor();
    assert.deepEqual(await rows(), ["Played the violin."]);
    await shown.getByRole("slider").press("End");
    await shown.getByRole("status").filter({ hasText: "2 memories" }).waitFor();
    await shown.getByLabel("Search").fill("TUBA");
    assert.deepEqual(await rows(), ["Played the tuba."]);
    await shown.getByRole("button", { name: "Find by meaning" }).click();
    await shown.getByText("the nearest first").waitFor();
    await loaded(shown);
    assert.equal((await rows())[0], "Played the tuba.");
    await shown.getByRole("row").first().press("Enter");
    await shown.getByRole("heading", { name: "Played the tuba." }).waitFor();
  });
});
