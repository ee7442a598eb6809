/* What became of what was said: the memories of a turn, what a pass would write, and what is taken back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { browser, loaded, open, page, server } from "./scene.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const turn = (content, answer = "I see.") => [{ event_type: "user_message", content }, { event_type: "assistant_response", content: answer }];

test("a conversation", async (t) => {
  const served = await server(t);
  const append = (events) => served.api("POST", "/users/ann/sessions/s1/events", { events });
  await served.api("POST", "/users/ann/sessions", { session_id: "s1", title: "The move" });
  await append(turn("I live in Porto."));
  await append([
    { event_type: "user_message", content: [{ type: "text", text: "Look at this." }, { type: "image", media_type: "image/png", data: PNG }] },
    { event_type: "tool_call", content: "", event_data: { tool_use_id: "t1", name: "search", args: { q: "vans", limit: 3 } } },
    { event_type: "tool_result", content: '[{"van": "Big", "price": 180}]', event_data: { tool_use_id: "t1", name: "search" } },
    { event_type: "assistant_response", content: "There is one." },
  ]);
  await served.api("POST", "/users/ann/sessions/s1/observe");
  await served.settled();
  const shown = await page(await browser(t));
  await open(shown, served, await served.token("ann"), "/conversation?session=s1");
  const row = (at) => shown.getByRole("row").nth(at - 1);

  await t.test("says in a row what was said and what was made of it, of tools in sentences", async () => {
    assert.match(await row(1).innerText(), /I live in Porto\.[^]*→ User lives in Porto/);
    assert.match(await row(3).innerText(), /Look at this\. \[image \w{8} image\/png\]/);
    assert.match(await row(4).innerText(), /called search with q: vans, limit: 3/);
    assert.match(await row(5).innerText(), /search answered: 1 item \(van: Big, price: 180\)/);
    assert.match(await row(6).innerText(), /read up to here/);
    await row(1).focus();
    await shown.keyboard.press("Enter");
    await shown.getByRole("dialog", { name: "#1" }).getByRole("link", { name: "User lives in Porto" }).click();
    await shown.getByRole("heading", { name: "User lives in Porto" }).waitFor();
    await shown.getByRole("link", { name: "#1", exact: true }).click();
    await shown.getByRole("dialog", { name: "#1" }).waitFor();
    await shown.keyboard.press("Escape");
    await shown.getByRole("dialog").waitFor({ state: "detached" });
  });

  await t.test("shows what a pass would write, and writes it when asked", async () => {
    await served.control("pause", { worker: "extract" });
    await append(turn("My sister Rita works as a baker."));
    await shown.getByRole("button", { name: "read again" }).click();
    await shown.getByText("not read yet").first().waitFor();
    await shown.getByRole("button", { name: "What would be remembered now?" }).click();
    const ahead = shown.locator("section.box");
    await ahead.getByText(/Rita/).first().waitFor();
    const texts = (await served.api("GET", "/users/ann/memories")).memories.map(({ text }) => text).join();
    assert.ok(!texts.includes("Rita"), "nothing is written by asking");
    await served.control("resume", {});
    await shown.getByRole("button", { name: "Remember it now" }).click();
    await row(7).getByText(/→ .*Rita/).waitFor();
  });

  await t.test("takes a turn back behind a question that says what goes", async () => {
    await row(7).click();
    await shown.getByRole("button", { name: "Take it back…" }).click();
    const asks = shown.getByRole("region", { name: "Take back" });
    await asks.getByText("2 events, and what was made of them:").waitFor();
    assert.match(await asks.innerText(), /Rita/);
    await asks.getByLabel("Why").selectOption("deleted");
    await asks.getByText("The words cannot be brought back.").waitFor();
    await asks.getByRole("button", { name: "Take #7–#8 back" }).click();
    await asks.waitFor({ state: "detached" });
    await shown.keyboard.press("Escape");
    await row(7).getByText("Deleted: nothing of it is kept.").waitFor();
    await loaded(shown);
    const log = JSON.stringify(await served.api("GET", "/users/ann/sessions/s1/events"));
    assert.ok(!log.includes("Rita"));
    await row(1).getByText("→ User lives in Porto").waitFor();
  });
  assert.deepEqual(shown.wrong, []);
});
