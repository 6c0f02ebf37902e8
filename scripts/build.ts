import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import seaModule from "@yao-pkg/pkg/lib-es5/sea.js";
import { bundleSource, copyNode, SEA_OPTIONS, type Target, targets } from "./executable.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "build/executable");
const bundle = join(folder, "formsvc.cjs");
const node = join(folder, process.platform === "win32" ? "node.exe" : "node");
const executable = join(root, process.platform === "win32" ? "dist/formsvc.exe" : "dist/formsvc");

await buildExecutable();

/** Builds the executable for this machine, with compiled code for a quick start. */
async function buildExecutable(): Promise<void> {
  const host = `${process.platform}-${process.arch}`;
  if (!(host in targets))
    throw new Error(`no pinned Node for ${host}; known: ${Object.keys(targets).join(", ")}`);
  const source = { folder: root, target: host as Target };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { assets } = await bundleSource(source, bundle);
  copyNode(source, node, null);
  // A system does not let a file be written while it runs; what runs keeps the removed one.
  rmSync(executable, { force: true });
  await seaModule.default(bundle, {
    nodePath: node,
    signature: process.platform === "darwin",
    targets: [{ nodeRange: "node26", platform: pkgPlatform(), arch: process.arch, output: executable }],
    seaConfig: { ...SEA_OPTIONS, useCodeCache: true, assets },
  });
}

/** The name that pkg uses for this platform. */
function pkgPlatform(): "linux" | "macos" | "win" {
  if (process.platform === "darwin") return "macos";
  return process.platform === "win32" ? "win" : "linux";
}
