// Builds the page scripts into web/static/build/. The pages work without them, as plain forms.
import { build } from "esbuild";
import { rm } from "node:fs/promises";

const outdir = new URL("../static/build/", import.meta.url).pathname;

await rm(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: ["src/site.js", "src/solve.js"],
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  legalComments: "linked",
  logLevel: "warning",
});
