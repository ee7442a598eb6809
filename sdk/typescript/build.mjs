/* Builds dist/ (ESM, CJS, declarations of both) and says what it weighs; too much is an error. */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const MOST = { index: 8 * 1024, more: 8 * 1024, "memory-tool": 8 * 1024 };
const here = (name) => new URL(name, import.meta.url);

await rm(here("dist"), { recursive: true, force: true });
for (const name of ["index", "more", "memory-tool"]) {
  await build({
    absWorkingDir: here(".").pathname,
    entryPoints: [`src/${name}.ts`],
    outdir: "dist",
    bundle: true,
    minify: true,
    target: "es2022",
    platform: "neutral",
    format: "esm",
    external: ["./more.js"],
    logLevel: "warning",
  });
  const text = await readFile(here(`dist/${name}.js`), "utf8");
  const [whole, names] = /export\{([^}]*)\};\s*$/.exec(text);
  const exported = names.split(",").map((one) => one.split(" as ").reverse().join(":"));
  if (name !== "more") await writeFile(here(`dist/${name}.cjs`), text.replace(whole, () => `module.exports={${exported}};\n`));
}

execFileSync(process.execPath, [here("node_modules/typescript/bin/tsc").pathname], { cwd: here("."), stdio: "inherit" });
const kept = await declarations();
for (const name of await readdir(here("dist"))) {
  if (name.endsWith(".d.ts") && !kept.has(name)) await rm(here(`dist/${name}`));
  else if (name.endsWith(".d.ts")) {
    // Whoever requires the package reads declarations of a CommonJS module.
    const text = await readFile(here(`dist/${name}`), "utf8");
    await writeFile(here(`dist/${name.replace(/\.d\.ts$/, ".d.cts")}`), text.replace(/(from "\.\/[^"]*|import\("\.\/[^"]*)\.js"/g, '$1.cjs"'));
  }
}

let heavy = 0;
for (const [name, most] of Object.entries(MOST)) {
  for (const ending of ["js", "cjs"]) {
    const file = await readFile(here(`dist/${name}.${ending}`)).catch(() => undefined);
    if (!file) continue;
    const weight = gzipSync(file, { level: 9 }).length;
    console.log(`${`${name}.${ending}`.padEnd(16)} ${(file.length / 1024).toFixed(1)} KB, ${(weight / 1024).toFixed(2)} KB gz (at most ${most / 1024})`);
    if (weight > most) heavy++;
    if (/\brequire\(|\bfrom"|\bimport"|import\("(?!\.\/more\.js"\))/.test(file)) {
      console.error(`${name}.${ending} imports something: the package has to run where Node's modules are not`);
      heavy++;
    }
  }
}
process.exitCode = heavy ? 1 : 0;

/** The declarations that the entry points lead to. */
async function declarations() {
  const found = new Set();
  const queue = ["index.d.ts", "memory-tool.d.ts"];
  for (const name of queue) {
    const text = found.has(name) ? "" : await readFile(here(`dist/${name}`), "utf8").catch(() => "");
    if (!text) continue;
    found.add(name);
    for (const [, next] of text.matchAll(/(?:from|import\() ?"\.\/([^"]*)\.js"/g)) queue.push(`${next}.d.ts`);
  }
  return found;
}
