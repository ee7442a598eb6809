/* The chat: what a turn does to pack, recall and memory, and what was typed when something goes wrong. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browser, looks, open, page, server } from "./scene.mjs";

const served = await server({ after });
const opened = await browser({ after });
const USER = "zoe";

test("a turn shows what was remembered of it, and the next one goes on from the same prefix", async () => {
  const shown = await page(opened);
  await open(shown, served, await served.token(USER), "/chat");
  await shown.getByRole("button", { name: "New conversation" }).click();
  const user = shown.getByLabel("You, as the user");
  await user.fill("I always take the night train.");
  await shown.keyboard.press("Shift+Enter");
  await shown.keyboard.type("My cat is called Miso.");
  await shown.keyboard.press("Enter");
  const answer = shown.getByLabel("The assistant's answer");
  await answer.waitFor();
  assert.match(await answer.inputValue(), /^Echo: I always take the night train\.\nMy cat/);
  await shown.reload();
  await open(shown, served, await served.token(USER), new URL(shown.url()).hash.slice(1));
  assert.match(await answer.inputValue(), /^Echo: /, "what waits for an answer is found again");
  await answer.fill("What a fine name.");
  await shown.getByRole("button", { name: "Answer" }).click();
  const turn = shown.locator("article").first();
  await turn.getByText("User's cat is called Miso").waitFor();
  assert.ok((await turn.locator(".badge.good", { hasText: "new" }).count()) >= 1);
  for (const words of ["Which train shall I take to Lyon?", "And back?"]) {
    await user.fill(words);
    await shown.keyboard.press("Enter");
    await shown.getByRole("button", { name: "Answer" }).click();
    await user.waitFor();
  }
  await turn.getByText("the same").waitFor();
  await turn.getByText(/\d tok, of which \d+ tok stand in front/).waitFor();
  await looks(shown, "chat");
});

test("what was typed stays when it is refused, and is sent once when the service was away", async () => {
  const shown = await page(opened, { width: 360, height: 740 });
  await served.api("POST", `/users/${USER}/sessions`, { session_id: "away" });
  await open(shown, served, await served.token(USER), "/chat?session=away");
  const user = shown.getByLabel("You, as the user");
  const long = "long ".repeat(60_000);
  await user.fill(long);
  await shown.getByRole("button", { name: "Send" }).click();
  await shown.getByRole("alert").waitFor();
  assert.equal((await user.inputValue()).length, long.length);
  shown.wrong = shown.wrong.filter((line) => !/4\d\d/.test(line));
  await user.fill("Am I heard?");
  let cut = true;
  await shown.route("**/turn", async (route) => {
    if (!cut) return route.continue();
    cut = false;
    await route.fetch();
    await route.abort();
  });
  await shown.getByRole("button", { name: "Send" }).click();
  await shown.getByLabel("The assistant's answer").waitFor();
  const { events } = await served.api("GET", `/users/${USER}/sessions/away/events`);
  assert.deepEqual(events.map((event) => event.content), ["Am I heard?"], "once");
  shown.wrong = shown.wrong.filter((line) => !/ERR_FAILED/.test(line));
  await looks(shown, "chat on a phone");
});
