import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linkAtomic } from "../../scripts/link-atomic.ts";
import { executable } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const isLinux = process.platform === "linux";
/** This Node with the change, while these tests run. */
let changed = Buffer.alloc(0);
beforeAll(() => {
  if (!isLinux) return;
  changed = readFileSync(process.execPath);
  linkAtomic(changed);
});
afterAll(() => {
  changed = Buffer.alloc(0);
});

/** The libraries that the loader finds for a program, one a line. */
function librariesOf(program: string): string {
  const { stdout } = spawnSync(program, { env: { LD_TRACE_LOADED_OBJECTS: "1" }, encoding: "utf8" });
  expect(stdout).toContain("libc.so.6");
  return stdout;
}

test.skipIf(!isLinux)("the executable needs no libatomic, which a bare system does not have", () => {
  expect(librariesOf(process.execPath)).toContain("libatomic.so.1");
  expect(librariesOf(executable)).not.toContain("libatomic");
});

test.skipIf(!isLinux)("a Node without libatomic runs JavaScript and WebAssembly on several threads", () => {
  const node = join(temporaryFolder(), "node");
  writeFileSync(node, changed, { mode: 0o755 });
  expect(librariesOf(node)).not.toContain("libatomic");
  // Each function and each table of WebAssembly takes entries from lists that the replaced function guards.
  const script = `
    const { Worker, isMainThread } = require("node:worker_threads");
    const empty = Buffer.from("0061736d0100000001040160000003020100070501016600000a040102000b", "hex");
    const functions = Array.from({ length: 20000 }, (_, at) => new Function("return " + at));
    const sum = functions.reduce((total, each) => total + each(), 0);
    for (let round = 0; round < 50; round++) new WebAssembly.Instance(new WebAssembly.Module(empty)).exports.f();
    if (sum !== 199990000) process.exit(3);
    if (isMainThread) for (let at = 0; at < 4; at++) new Worker(__filename).on("error", () => process.exit(4));
  `;
  const file = `${node}.cjs`;
  writeFileSync(file, script);
  const ran = spawnSync(node, [file], { encoding: "utf8", env: {} });
  expect(ran).toMatchObject({ status: 0, stderr: "" });
});

test.skipIf(!isLinux)("a Node that is changed already, or never needed libatomic, stays as it is", () => {
  const twice = Buffer.from(changed);
  linkAtomic(twice);
  expect(twice.equals(changed)).toBe(true);
});

test.skipIf(process.platform !== "linux" || process.arch !== "x64")(
  "a Node that calls the function for another size than 8 bytes, or needs another one, is refused",
  () => {
    const original = readFileSync(process.execPath);
    const otherSize = Buffer.from(original);
    // The size, which `mov edi, 8` sets, of every call that is like the first one of a build with clang.
    const sets = Buffer.from("bf08000000", "hex");
    for (let at = otherSize.indexOf(sets); at !== -1; at = otherSize.indexOf(sets, at + 5))
      otherSize.writeUInt8(4, at + 1);
    expect(() => linkAtomic(otherSize)).toThrow("another size than 8 bytes");
    const otherName = Buffer.from(original);
    const name = Buffer.from("\0__atomic_compare_exchange\0");
    for (let at = otherName.indexOf(name); at !== -1; at = otherName.indexOf(name, at + 1))
      otherName.write("__atomic_other____________", at + 1, "latin1");
    expect(() => linkAtomic(otherName)).toThrow("not only __atomic_compare_exchange");
    expect(() => linkAtomic(Buffer.from("MZ no ELF at all"))).toThrow("is no 64-bit ELF file");
  },
);
