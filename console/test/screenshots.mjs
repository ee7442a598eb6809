/* Writes a picture of every view to docs/images/: `node test/screenshots.mjs`, or with names of views only those.
 * It fails where a view shows an error, or its picture has more than 120 KB. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { LONG, MIRA, month } from "./month.mjs";
import { small } from "./png.mjs";
import { browser, loaded, open, page, server } from "./scene.mjs";

const MOST_BYTES = 120 * 1024;
const IMAGES = new URL("../../docs/images/", import.meta.url);
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** Besides the light ones: how the same page is in the dark, and in a hand. */
const MORE = [["prompt", "-dark", { ...DESK, colorScheme: "dark" }], ["prompt", "-phone", PHONE]];

const ends = [];
const t = { after: (end) => ends.push(end) };
try {
  process.exitCode = await pictures(process.argv.slice(2));
} finally {
  for (const end of ends.reverse()) await end();
}

async function pictures(wanted) {
  // That of `make run`: what a recall finds by meaning is to be seen.
  const served = await server(t, { embedder: "bge-small" });
  const opened = await browser(t);
  const ids = await month(served);
  const token = await served.token(undefined, ["chat", "records", "documents", "admin"]);
  await mkdir(IMAGES, { recursive: true });
  const views = (await routes()).filter(({ path }) => !wanted.length || wanted.includes(path));
  const all = [...views.map((view) => [view, "", DESK]), ...MORE.flatMap(([path, ending, how]) => views.filter((view) => view.path === path).map((view) => [view, ending, how]))];
  let wrong = 0;
  for (const [view, ending, how] of all) {
    const name = `console-${view.path}${ending}.png`;
    const shown = await page(opened, how);
    await open(shown, served, token, address(view, ids));
    await loaded(shown);
    const picture = small(await shown.screenshot({ animations: "disabled" }));
    const errors = [...(await shown.locator(".error, .away").allInnerTexts()), ...shown.wrong];
    if (picture.length > MOST_BYTES) errors.push(`it has ${picture.length} bytes, and may have ${MOST_BYTES}`);
    await writeFile(new URL(name, IMAGES), picture);
    console.log(`${name.padEnd(32)} ${String(picture.length).padStart(7)} bytes`);
    for (const error of errors) console.error(`  ${error}`);
    wrong += errors.length;
    await shown.context().close();
  }
  return wrong ? 1 : 0;
}

/** As they stand in the table. What has a path of its own for each thing is shown with one of them. */
async function routes() {
  const text = await readFile(new URL("../src/routes.ts", import.meta.url), "utf8");
  const found = [...text.matchAll(/\{ path: "(\w+)", name: "[^"]+", of: "(\w+)"/g)].map(([, path, of]) => ({ path, of }));
  if (!found.length) throw new Error("there is no view in src/routes.ts");
  return found;
}

function address({ path, of }, ids) {
  const one = { memory: ids.memory, recall: ids.recall, receipt: ids.receipt }[path];
  const whose = of === "tenant" ? "" : `?user=${MIRA}${of === "session" || path === "chat" ? `&session=${LONG}` : ""}`;
  return `/${path}${one ? `/${one}` : ""}${whose}`;
}
