/* Packs the built package, installs it into an empty folder, and imports it there as a module and as CommonJS. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const run = (command, given, cwd) => execFileSync(command, given, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

const [{ filename, files }] = Object.values(JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts"], here)));
const tarball = join(here, filename);
console.log(`${filename}  ${(statSync(tarball).size / 1024).toFixed(0)} KB, ${files.length} files`);

const USED = `
const neve = new Neve({ apiKey: "k", baseUrl: "http://127.0.0.1:9", onError: () => undefined });
const [hits, failed] = await Promise.all([neve.user("ada").session("s1").recall("x"), neve.raw.health({ timeoutMs: 50 }).catch((error) => error)]);
if (hits.length || hits.degraded[0] !== "unreachable" || !(failed instanceof NeveError) || typeof memoryHandlers(neve, "ada").view !== "function") throw new Error("it does not work");
`;
const folder = mkdtempSync(join(tmpdir(), "neve-sdk-"));
try {
  writeFileSync(join(folder, "package.json"), "{}");
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", tarball], folder);
  writeFileSync(join(folder, "module.mjs"), `import { Neve, NeveError } from "@neve/sdk";\nimport { memoryHandlers } from "@neve/sdk/memory-tool";\n${USED}`);
  writeFileSync(join(folder, "common.cjs"), `const { Neve, NeveError } = require("@neve/sdk");\nconst { memoryHandlers } = require("@neve/sdk/memory-tool");\n(async () => {${USED}})();`);
  for (const name of ["module.mjs", "common.cjs"]) {
    run(process.execPath, [join(folder, name)], folder);
    console.log(`${name.padEnd(16)} imports and runs it in an empty folder`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
