/* `node sdk/adapters/frameworks.mjs` runs the tests of the TypeScript adapters against the versions of package-lock.json; with
 * `--newest` against the newest release of each framework, installed into a folder of its own. Prints the versions. PYTHON is the
 * interpreter, .venv/bin/python unless said. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "..", "..");
/** What of today's is asked for: ai 6 goes on beside the newest. */
const NEWEST = { "ai-6": "npm:ai@6", "ai-7": "npm:ai@latest", "@ai-sdk/anthropic-6": "npm:@ai-sdk/anthropic@3", "@ai-sdk/anthropic-7": "npm:@ai-sdk/anthropic@latest", "@openai/agents": "latest", zod: "4" };

const newest = process.argv.includes("--newest");
const folder = newest ? mkdtempSync(join(tmpdir(), "neve-frameworks-")) : here;
try {
  const wanted = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  if (newest) {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ ...wanted, dependencies: { ...wanted.dependencies, ...NEWEST } }));
    copyFileSync(join(here, ".npmrc"), join(folder, ".npmrc"));
    execFileSync("npm", ["install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
    for (const name of Object.keys(wanted.dependencies)) console.log(`${name.padEnd(22)} ${JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version}`);
  }
  const env = { ...process.env, PYTHONPATH: ["layers/core", ".", "sdk/python"].map((path) => join(root, path)).join(":"), ...(newest && { NEVE_FRAMEWORKS: folder }) };
  const { status } = spawnSync(process.env.PYTHON ?? ".venv/bin/python", ["-m", "pytest", "-n", "0", "-q", "tests/sdk/adapters"], { cwd: root, env, stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  if (newest) rmSync(folder, { recursive: true });
}
