/* Whoever holds a token of user A sees nothing of user B, whatever is typed into the address. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { browser, loaded, open, page, server } from "./scene.mjs";

const SECRET = "Bob keeps bees.";

test("a token of one user shows nothing of another", async (t) => {
  const served = await server(t);
  const { api } = served;
  const said = (words) => [{ event_type: "user_message", content: words }, { event_type: "assistant_response", content: "I see." }];
  const { id } = await api("POST", "/users/bob/memories", { kind: "note", text: SECRET });
  const waits = await api("POST", "/users/bob/memories", { kind: "fact", category: "PLACE", by: "assistant", text: "Bob keeps bees at home." });
  await api("POST", "/users/bob/sessions", { session_id: "bees", title: SECRET });
  await api("POST", "/users/bob/sessions/bees/events", { events: said(SECRET) });
  await api("GET", "/users/bob/pack?session_id=bees");
  const { recall_id } = await api("POST", "/users/bob/recall", { query: "bees", mode: "tool" });
  await api("POST", "/users/ann/memories", { kind: "note", text: "Ann keeps cats." });
  await api("POST", "/users/ann/sessions", { session_id: "cats" });

  const token = await served.token("ann");
  const shown = await page(await browser(t));
  const [bodies, asked] = [[], []];
  shown.on("response", (answer) => {
    if (!answer.url().includes("/v1/")) return;
    asked.push(new URL(answer.url()).pathname);
    bodies.push(answer.text().catch(() => ""));
  });
  const addresses = ["/memories", `/memory/${id}`, `/memory/${waits.id}`, "/conversation?session=bees", "/conversation?session=bees&seq=1", "/inbox", `/recall/${recall_id}`, "/recall", "/packs?session=bees&version=1", "/work", "/money"];
  for (const address of addresses) {
    await open(shown, served, token, `${address}${address.includes("?") ? "&" : "?"}user=bob`);
    assert.ok(!(await shown.locator("body").innerText()).includes("keeps bees"), address);
  }
  await open(shown, served, token, "/memories?user=bob");
  await shown.getByText("Ann keeps cats.").waitFor();
  await shown.getByLabel("Search").fill("bees");
  await shown.getByRole("button", { name: "Find by meaning" }).click();
  await loaded(shown);
  assert.equal(await shown.getByText("other user").count(), 0, "there is none to choose");
  assert.deepEqual(asked.filter((path) => path.startsWith("/v1/users") && !path.startsWith("/v1/users/ann/")), [], "and nothing of another was asked for");
  assert.ok(!(await Promise.all(bodies)).join().includes("keeps bees"), "nor answered");
  for (const path of ["/users/bob/memories", `/users/bob/memories/${id}`, "/users/bob/sessions/bees/events", "/users", `/users/ann/memories/${id}`]) {
    const { status } = await fetch(`${served.url}/v1${path}`, { headers: { Authorization: `Bearer ${token}` } });
    assert.ok(status === 403 || status === 404, `${path}: ${status}`);
  }
});
