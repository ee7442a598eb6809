/* Builds each adapter's dist/ and says what it weighs; too much is an error, and so is what the types of a framework do not allow.
 * With `--pack` each is packed, installed into an empty folder, and imported there. NEVE_FRAMEWORKS is a folder with the frameworks. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = fileURLToPath(new URL(".", import.meta.url));
const sdk = join(here, "..", "typescript");
const frameworks = join(process.env.NEVE_FRAMEWORKS ?? here, "node_modules");
const ts = createRequire(join(sdk, "package.json"))("typescript");
/** Each adapter with the folders of its framework: it has to fit the types of all of them. */
const ADAPTERS = {
  "ai-sdk": { name: "ai", versions: ["ai-7", "ai-6"], exported: "neveMemory" },
  "openai-agents-typescript": { name: "@openai/agents", versions: ["@openai/agents"], exported: "NeveSession" },
};
const MOST_GZ = 8 * 1024;

let failures = 0;
for (const [folder, { name, versions, exported }] of Object.entries(ADAPTERS)) {
  const dist = join(here, folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  versions.forEach((version, n) => compiled(folder, name, join(frameworks, version), n > 0));
  const files = readdirSync(dist).filter((file) => file.endsWith(".js"));
  const weight = gzipSync(Buffer.concat(files.map((file) => readFileSync(join(dist, file)))), { level: 9 }).length;
  console.log(`${folder.padEnd(26)} ${(weight / 1024).toFixed(2)} KB gz (at most ${MOST_GZ / 1024})`);
  if (weight > MOST_GZ) failures++;
  if (process.argv.includes("--pack")) packed(folder, exported);
}
process.exitCode = failures ? 1 : 0;

function compiled(folder, name, framework, noEmit) {
  const { config } = ts.readConfigFile(join(here, "tsconfig.json"), ts.sys.readFile);
  const { types } = JSON.parse(readFileSync(join(framework, "package.json"), "utf8"));
  const paths = { "@neve/sdk": [join(sdk, "dist", "index.d.ts")], [name]: [join(framework, types ?? "dist/index.d.ts")] };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, paths, noEmit, rootDir: join(folder, "src"), outDir: join(folder, "dist") }, here);
  const program = ts.createProgram([join(here, folder, "src", "index.ts")], options);
  const { diagnostics } = program.emit();
  const found = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
  failures += found.length;
  if (found.length) console.error(ts.formatDiagnostics(found, { getCurrentDirectory: () => here, getCanonicalFileName: (file) => file, getNewLine: () => "\n" }));
}

function packed(folder, exported) {
  const run = (command, given, cwd) => execFileSync(command, given, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const empty = mkdtempSync(join(tmpdir(), "neve-adapter-"));
  try {
    const [{ filename, files }] = Object.values(JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts"], join(here, folder))));
    writeFileSync(join(empty, "package.json"), "{}");
    // Without its peers: it imports none of them when it runs.
    run("npm", ["install", "--offline", "--legacy-peer-deps", "--no-audit", "--no-fund", "--silent", join(here, folder, filename)], empty);
    const { name } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
    writeFileSync(join(empty, "module.mjs"), `import { ${exported} } from "${name}";\nif (typeof ${exported} !== "function") throw new Error("it is not there");`);
    run(process.execPath, ["module.mjs"], empty);
    console.log(`${filename.padEnd(26)} ${files.length} files; imports in an empty folder`);
  } finally {
    rmSync(empty, { recursive: true });
  }
}
