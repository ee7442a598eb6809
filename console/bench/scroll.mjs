/* Scrolls long lists from top to end, by wheel and by keys, and counts the frames that took too long:
 *
 *     node bench/scroll.mjs [memories=10000] [events=5000]
 *
 * It brings in what it scrolls, measures the first paint on the way, and exits with 1 where something is missed. */
import { browser, loaded, open, page, server } from "../test/scene.mjs";

const [MEMORIES = 10_000, EVENTS = 5_000] = process.argv.slice(2).map(Number);
const HITCH_MS = 50;
const PAINT_MS = 1000;
const LINES = 5000;
const AT_ONCE = 48;

const ends = [];
const served = await server({ after: (end) => ends.unshift(end) });
let missed = false;
try {
  await bringIn();
  const opened = await browser({ after: (end) => ends.unshift(end) });
  const shown = await page(opened, { width: 1280, height: 800 });
  await paint(shown);
  await scrolled(shown, "/memories", "Memories", MEMORIES);
  await scrolled(shown, "/conversation?session=long", "Events", EVENTS);
} finally {
  for (const end of ends) await end();
}
process.exitCode = missed ? 1 : 0;

async function bringIn() {
  const began = performance.now();
  const kinds = ["note", "observation", "reflection", "manual"];
  for (let from = 0; from < MEMORIES; ) {
    const lines = Array.from({ length: Math.min(LINES, MEMORIES - from) }, (_, at) => JSON.stringify({ kind: kinds[at % 4], text: `Memory ${from + at}: ${"what was said of it, ".repeat(1 + (at % 7))}`, tags: [`t${at % 10}`] }));
    const { imported, next_line } = await served.api("POST", "/users/ann/memories/import", lines.join("\n"), { "Content-Type": "application/jsonl" });
    from += next_line ? next_line - 1 : imported.length;
  }
  await served.api("POST", "/users/ann/sessions", { session_id: "long", title: "A long conversation" });
  for (let from = 0; from < EVENTS; from += AT_ONCE) {
    const events = Array.from({ length: Math.min(AT_ONCE, EVENTS - from) }, (_, at) => said(from + at));
    await served.api("POST", "/users/ann/sessions/long/events", { events });
  }
  // Observed and indexed first: what the service has to do is not what the page is measured by.
  while (!(await served.control("drain", { timeout_s: 20 })).done);
  console.log(`${MEMORIES} memories and ${EVENTS} events brought in in ${Math.round((performance.now() - began) / 1000)} s`);
}

/** Turns of four events, a tool call among them. */
function said(at) {
  const data = { tool_use_id: `t${at >> 2}`, name: "search" };
  return [
    { event_type: "user_message", content: `Question ${at}: ${"and what of this? ".repeat(1 + (at % 5))}` },
    { event_type: "tool_call", content: "", event_data: { ...data, args: { q: `question ${at - 1}`, limit: 10 } } },
    { event_type: "tool_result", content: JSON.stringify({ found: at % 9, rows: [{ id: at, name: "a row" }] }), event_data: data },
    { event_type: "assistant_response", content: `Answer ${at}: ${"this is so. ".repeat(1 + (at % 11))}` },
  ][at % 4];
}

/** Of a page that has nothing in its cache yet. */
async function paint(shown) {
  await open(shown, served, await served.token("ann"), "/memories");
  const first = await shown.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity);
  tell(`first paint`, `${Math.round(first)} ms (at most ${PAINT_MS})`, first > PAINT_MS);
}

async function scrolled(shown, view, label, rows) {
  await open(shown, served, await served.token("ann"), view);
  await loaded(shown);
  const grid = shown.getByRole("grid", { name: label });
  const counted = Number(await grid.getAttribute("aria-rowcount"));
  tell(view, `${counted} rows`, counted !== rows);
  await grid.hover();
  await measured(shown, `${view}, by wheel`, rows, async () => {
    while (!(await atEnd(grid))) {
      await stepping(shown, () => shown.mouse.wheel(0, 900));
    }
  });
  await grid.evaluate((box) => (box.scrollTop = 0));
  await shown.getByRole("row").first().focus();
  await measured(shown, `${view}, by keys`, rows, async () => {
    while (!(await atEnd(grid))) {
      await stepping(shown, () => shown.keyboard.press("PageDown"));
    }
  });
}

/** A step a frame, as a hand does it. */
async function stepping(shown, step) {
  for (let at = 0; at < 20; at++) {
    await step();
    await shown.evaluate(() => new Promise(requestAnimationFrame));
  }
}

async function atEnd(grid) {
  return grid.evaluate((box) => box.scrollTop + box.clientHeight >= box.scrollHeight - 2);
}

/** Every frame from the first step to the last: `requestAnimationFrame` tells how long the page was busy between two. */
async function measured(shown, name, rows, scroll) {
  await shown.evaluate(() => {
    globalThis.frames_ = [];
    let last = performance.now();
    const next = (now) => {
      globalThis.frames_.push(now - last);
      last = now;
      globalThis.frame_ = requestAnimationFrame(next);
    };
    globalThis.frame_ = requestAnimationFrame(next);
  });
  const spent = await busy(shown);
  await scroll();
  const own = await spent();
  const frames = await shown.evaluate(() => (cancelAnimationFrame(globalThis.frame_), globalThis.frames_));
  const sorted = frames.toSorted((one, other) => one - other);
  const slow = frames.filter((ms) => ms > HITCH_MS).length;
  const at = (share) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  tell(name, `${frames.length} frames, ${slow} over ${HITCH_MS} ms; median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms; ${(own / frames.length).toFixed(1)} ms of a processor each`, slow > 0);
}

/** Asks what the page's thread has had of a processor since, in ms: true on a busy machine, too, where a frame waits for others. */
async function busy(shown) {
  const client = await shown.context().newCDPSession(shown);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => 1000 * (await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  const before = await spent();
  return async () => (await spent()) - before;
}

function tell(name, words, bad) {
  missed ||= bad;
  console.log(`${bad ? "MISSED" : "ok    "} ${name}: ${words}`);
}
