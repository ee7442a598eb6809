/* Builds dist/ and says what each file weighs; more than 60 KB gz in all is an error.
 * Scripts and styles have their hash in the name, so that a page never runs with those of another build. */
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { settings } from "./settings.mjs";

const MOST = 60 * 1024;
const here = (name) => new URL(name, import.meta.url);

const built = await build({
  absWorkingDir: here(".").pathname,
  entryPoints: { app: "src/main.tsx" },
  outdir: "dist",
  write: false,
  bundle: true,
  minify: true,
  target: "es2022",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
  plugins: [settings],
});
const files = built.outputFiles.map(({ path, contents }) => named(`app${path.slice(path.lastIndexOf("."))}`, contents));
files.push(named("icon.svg", await readFile(here("src/icon.svg"))));
let page = await readFile(here("src/index.html"), "utf8");
for (const { plain, name } of files) page = page.replaceAll(`"${plain}"`, `"${name}"`);
files.push({ plain: "index.html", name: "index.html", contents: page });

await rm(here("dist"), { recursive: true, force: true });
await mkdir(here("dist"));
let all = 0;
for (const { plain, name, contents } of files) {
  const weight = gzipSync(contents, { level: 9 }).length;
  all += weight;
  await writeFile(here(`dist/${name}`), contents);
  console.log(`${plain.padEnd(12)} ${String(contents.length).padStart(7)} bytes ${String(weight).padStart(6)} gz`);
}
console.log(`${"in all".padEnd(12)} ${String(all).padStart(20)} gz (at most ${MOST})`);
if (all > MOST) {
  console.error("The console weighs too much.");
  process.exitCode = 1;
}

function named(plain, contents) {
  const sum = createHash("sha256").update(contents).digest("hex").slice(0, 10);
  return { plain, name: plain.replace(".", `-${sum}.`), contents };
}
