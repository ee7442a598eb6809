/* How it feels: the first paint, and frames over 50 ms while 10,000 memories and 5,000 events are scrolled through.
 * node bench.mjs prints them; nothing fails here: the machine decides, and tests do not depend on one. */
import { address, browser, loaded, page, server } from "./test/scene.mjs";

const MEMORIES = 10_000;
const EVENTS = 5_000;
const LONG_MS = 50;
const SCROLLS = 150;
const closing = [];
const t = { after: (close) => closing.unshift(close) };

try {
  const served = await server(t);
  await fill(served);
  const opened = await browser(t);
  const token = await served.token();
  for (const [name, hash] of [["memories", "/memories?user=many"], ["conversation", "/conversation/long?user=many&session=long"]]) {
    const shown = await page(opened);
    await shown.goto(address(served, token, hash));
    await shown.waitForSelector("nav");
    const paint = await shown.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    await loaded(shown);
    const grid = shown.getByRole("grid").first();
    if (!(await grid.count())) {
      console.log(`${name}: first paint ${paint?.toFixed(0)} ms; it has no long list`);
      continue;
    }
    const rows = await grid.getAttribute("aria-rowcount");
    console.log(`${name}: first paint ${paint?.toFixed(0)} ms; ${rows} rows; ${await scrolled(shown, grid)}`);
  }
} finally {
  for (const close of closing) await close();
}

async function scrolled(shown, grid) {
  await grid.hover();
  await shown.evaluate(() => {
    window.frames_ms = [];
    let last = performance.now();
    const frame = (now) => {
      window.frames_ms.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  for (let at = 0; at < SCROLLS; at++) await shown.mouse.wheel(0, at % 10 === 9 ? 60_000 : 700);
  const frames = await shown.evaluate(() => window.frames_ms.slice(2));
  const sorted = frames.toSorted((one, other) => one - other);
  return `${frames.length} frames, ${frames.filter((ms) => ms > LONG_MS).length} over ${LONG_MS} ms, median ${sorted[sorted.length >> 1].toFixed(1)} ms, longest ${sorted.at(-1).toFixed(1)} ms`;
}

async function fill({ url, key, api }) {
  const words = ["bees", "Lisbon", "a red bicycle", "the sea", "walnuts", "an old lamp"];
  const text = (at) => `Memory ${at}: it is about ${words[at % words.length]}, and ${"somewhat longer ".repeat(at % 9)}`;
  for (let from = 0; from < MEMORIES; from += 2500) {
    const lines = Array.from({ length: 2500 }, (_, at) => JSON.stringify({ text: text(from + at), kind: "note" })).join("\n");
    const answer = await fetch(`${url}/v1/users/many/memories/import`, { method: "POST", body: lines, headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/jsonl" } });
    if (!answer.ok) throw new Error(await answer.text());
  }
  await api("POST", "/users/many/sessions", { session_id: "long" });
  for (let from = 0; from < EVENTS; from += 48) {
    const events = Array.from({ length: Math.min(48, EVENTS - from) }, (_, at) => ({ event_type: at % 2 ? "assistant_response" : "user_message", content: text(from + at) }));
    await api("POST", "/users/many/sessions/long/events", { events });
  }
}
