// Bundles the pages' scripts into functions/web/assets, each under a name with the hash of its content, or with --tests
// the unit tests into build/console-tests. `scripts/console` runs it.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const pages = path.join(here, "src", "pages");
const assets = path.join(here, "..", "functions", "web", "assets");
const tests = path.join(here, "..", "build", "console-tests");
const common = { bundle: true, format: "esm", target: "es2022", logLevel: "warning" };

async function bundlePages() {
  // Beside the folder, and moved into its place when all is there: a service may be reading it.
  const fresh = `${assets}.new`;
  await rm(fresh, { recursive: true, force: true });
  const entryPoints = (await readdir(pages)).map((name) => path.join(pages, name));
  const { metafile } = await build({
    ...common,
    entryPoints,
    outdir: fresh,
    splitting: true,
    minify: true,
    metafile: true,
    // The licences of what is in the bundle go along with it.
    legalComments: "eof",
    entryNames: "[name]-[hash]",
    chunkNames: "chunk-[hash]",
  });
  const manifest = {};
  for (const [file, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint) manifest[path.basename(entryPoint, ".ts")] = path.basename(file);
  }
  for (const name of (await readdir(fresh)).sort()) {
    const text = await readFile(path.join(fresh, name));
    await writeFile(path.join(fresh, `${name}.gz`), gzipSync(text, { level: 9 }));
  }
  await writeFile(path.join(fresh, "manifest.json"), JSON.stringify(manifest, null, 1));
  await rm(assets, { recursive: true, force: true });
  await rename(fresh, assets);
}

async function bundleTests() {
  const files = (await readdir(path.join(here, "src"), { recursive: true })).filter((name) =>
    name.endsWith(".test.ts"),
  );
  await rm(tests, { recursive: true, force: true });
  await mkdir(tests, { recursive: true });
  await build({
    ...common,
    entryPoints: files.map((name) => path.join(here, "src", name)),
    outdir: tests,
    outExtension: { ".js": ".mjs" },
    platform: "node",
  });
}

await (process.argv.includes("--tests") ? bundleTests() : bundlePages());
