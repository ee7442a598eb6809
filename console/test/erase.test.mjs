/* What one may ask for of everything that is kept: a copy that is loaded, and an end that is typed, watched and kept as a receipt. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { browser, loaded, looks, open, page, pause, server } from "./scene.mjs";

const USER = "dora";
const TEXT = "Dora collects stamps of lighthouses.";
const served = await server({ after });
const opened = await browser({ after });

const remember = async () => {
  await served.api("POST", `/users/${USER}/memories`, { text: TEXT, kind: "note" });
  await served.settled();
};

async function downloaded(shown, click) {
  const [file] = await Promise.all([shown.waitForEvent("download"), click()]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
}

/** The sixteen minutes between the two looks of an erasure, on the clock of the service. */
async function passTime(job) {
  for (let looks = 0; (await served.api("GET", `/admin/jobs/${job}`)).status !== "done"; looks++) {
    assert.ok(looks < 100, "the erasure does not end");
    for (const [name, body] of [["drain", {}], ["clock", { advance_s: 1000 }], ["run", { worker: "sweep" }], ["drain", {}]]) await served.control(name, body);
    await pause(50);
  }
  await served.control("clock", {});
}

const eraseButton = (shown) => shown.getByRole("button", { name: /^Erase/ });

for (const who of ["the tenant", "the user"]) {
  test(`an export is made and loaded by ${who}`, async () => {
    await remember();
    const shown = await page(opened);
    await open(shown, served, await served.token(who === "the user" ? USER : undefined), `/export?user=${USER}`);
    await shown.getByRole("button", { name: "Export" }).click();
    const link = shown.getByRole("link", { name: /^Download/ });
    await link.waitFor();
    const { name, text } = await downloaded(shown, () => link.click());
    assert.match(name, /^dora-1\.jsonl$/);
    assert.ok(text.includes(TEXT), text.slice(0, 500));
    await looks(shown, "an export");
    await shown.context().close();
  });

  test(`an erasure by ${who} wants the id typed, and leaves a receipt and nothing else`, async () => {
    const shown = await page(opened);
    await open(shown, served, await served.token(who === "the user" ? USER : undefined), `/export?user=${USER}`);
    const confirm = shown.getByLabel(`Type ${USER} to confirm`);
    for (const wrong of ["", "dor", "Dora", "dora "]) {
      await confirm.fill(wrong);
      assert.ok(await eraseButton(shown).isDisabled(), `"${wrong}"`);
    }
    if (who === "the tenant") assert.match(await shown.locator(".tiles").innerText(), /Memories\s+1\s/);
    await confirm.fill(USER);
    await eraseButton(shown).click();
    await shown.getByText("16 minutes later once more").waitFor();
    await passTime(new URLSearchParams(shown.url().split("?")[1]).get("erasure"));
    await shown.getByRole("heading", { name: "Receipt of an erasure" }).waitFor();
    const receipt = shown.getByRole("article");
    assert.match(await receipt.getByRole("row", { name: /^memories/ }).innerText(), /memories\s+1\s/);
    const hash = await receipt.locator(".hash").innerText();
    const { name, text } = await downloaded(shown, () => receipt.getByRole("button", { name: "Save as a file" }).click());
    const job = JSON.parse(text);
    assert.equal(name, `erasure-${job.id}.json`);
    assert.ok(job.result.receipt.memories.verified_empty_at);
    assert.equal(hash, Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("hex"));
    await looks(shown, "a receipt");

    await shown.goto(`${served.url}/console/#/memories?user=${USER}`);
    await loaded(shown);
    await shown.getByText("Nothing is remembered here yet").waitFor();
    assert.ok(!(await shown.evaluate(() => document.body.innerText)).includes(TEXT));
    if (who === "the tenant") {
      await shown.goto(`${served.url}/console/#/receipt`);
      await shown.getByRole("link", { name: `erasure of ${USER}` }).first().waitFor();
      await shown.getByLabel("The id of a job").fill(job.id);
      await shown.keyboard.press("Enter");
      await shown.getByRole("heading", { name: "Receipt of an erasure" }).waitFor();
    }
    await shown.context().close();
  });
}
