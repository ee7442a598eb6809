/* What waits is decided by a person, once: who comes second is told so, and keeps what was typed. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browser, looks, open, page, server } from "./scene.mjs";

const served = await server({ after });
const opened = await browser({ after });
const waiting = (user, text) => served.api("POST", `/users/${user}/memories`, { kind: "fact", category: "PREFERENCE", by: "assistant", text });
const read = (user, id) => served.api("GET", `/users/${user}/memories/${id}`);
const shownTo = async (user) => {
  const shown = await page(opened);
  await open(shown, served, await served.token(user), "/inbox");
  return shown;
};
const of = (shown, text) => shown.getByRole("article").filter({ hasText: text });

test("one accepts, edits and accepts, and rejects", async () => {
  const [tea, jazz, chess] = [await waiting("ann", "Ann likes tea."), await waiting("ann", "Ann likes jazz."), await waiting("ann", "Ann likes chess.")];
  const shown = await shownTo("ann");
  await looks(shown, "inbox");
  await of(shown, "Ann likes tea.").getByRole("button", { name: "Accept" }).click();
  await shown.getByRole("heading", { name: "2 wait for a decision" }).waitFor();
  await of(shown, "Ann likes jazz.").getByRole("button", { name: "Edit…" }).click();
  await shown.getByLabel("What it is to say").fill("Ann likes bebop.");
  await shown.getByRole("button", { name: "Accept this" }).click();
  await shown.getByRole("heading", { name: "1 waits for a decision" }).waitFor();
  await of(shown, "Ann likes chess.").getByRole("button", { name: "Reject" }).click();
  await shown.getByText("Nothing waits.").waitFor();
  const now = await Promise.all([tea, jazz, chess].map(({ id }) => read("ann", id)));
  assert.deepEqual(now.map(({ status, text }) => [status, text]), [["active", "Ann likes tea."], ["active", "Ann likes bebop."], ["archived", "Ann likes chess."]]);
});

test("what somebody else has decided meanwhile is said, and what was typed is kept", async () => {
  const [tea, jazz] = [await waiting("bob", "Bob likes tea."), await waiting("bob", "Bob likes jazz.")];
  const shown = await shownTo("bob");
  await of(shown, "Bob likes jazz.").getByRole("button", { name: "Edit…" }).click();
  await shown.getByLabel("What it is to say").fill("Bob likes swing.");
  for (const { id } of [tea, jazz]) await served.api("POST", `/users/bob/inbox/${id}/reject`, {});
  await waiting("bob", "Bob likes chess.");
  await shown.getByRole("button", { name: "Accept this" }).click();
  const told = shown.getByRole("status");
  await told.getByText("Somebody else has decided this already: it is archived now.").waitFor();
  await told.getByText("Bob likes swing.").waitFor();
  await of(shown, "Bob likes chess.").waitFor();
  assert.equal(await of(shown, "Bob likes tea.").count(), 0, "the list is up to date");
  assert.equal((await read("bob", jazz.id)).text, "Bob likes jazz.");
});

test("a fact that contradicts another stands beside it, and takes its place", async () => {
  const known = await served.api("POST", "/users/eve/memories", { kind: "fact", category: "PREFERENCE", text: "User's favourite tea is Earl Grey." });
  const fact = { text: "User's favourite tea is Darjeeling.", category: "PREFERENCE", importance: 4, by: "assistant", relation: "contradicts", target_id: known.id };
  await served.control("llm", { answers: [{ tool_input: { has_memory: true, observations: [], facts: [fact] }, when: "", purpose: "observe" }] });
  await served.api("POST", "/users/eve/sessions", { session_id: "s1" });
  await served.api("POST", "/users/eve/sessions/s1/events", { events: [{ event_type: "user_message", content: "Hm, tea." }, { event_type: "assistant_response", content: "Your favourite tea is Darjeeling." }] });
  await served.api("POST", "/users/eve/sessions/s1/observe");
  await served.settled();
  const shown = await shownTo("eve");
  const one = of(shown, "Darjeeling");
  await one.getByText("What is known").waitFor();
  assert.match(await one.innerText(), /Earl Grey\.[^]*Darjeeling\./);
  await looks(shown, "a contradiction");
  await one.getByRole("button", { name: "Accept in its place" }).click();
  await shown.getByText("Nothing waits.").waitFor();
  assert.equal((await read("eve", known.id)).status, "superseded");
});
