import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkExactVersions, checkLicences, checkLock, type Lock, type Manifest } from "./package-rules.ts";
import { readText, root } from "./repository.ts";

const manifest = JSON.parse(readText("package.json").text) as Manifest;
const lock = JSON.parse(readText("package-lock.json").text) as Lock;

const PLANTED: Lock = {
  lockfileVersion: 3,
  packages: {
    "": { dependencies: { a: "1.0.0" } },
    "node_modules/a": { integrity: "x", license: "MIT", optionalDependencies: { "a-linux": "1.0.0" } },
    "node_modules/a-linux": { integrity: "x", license: "(GPL-3.0-only OR MIT)" },
  },
};
const plantedManifest: Manifest = { dependencies: { a: "1.0.0" } };
const without = (name: string): Lock => ({
  ...PLANTED,
  packages: Object.fromEntries(Object.entries(PLANTED.packages).filter(([path]) => path !== name)),
});
const withEntry = (entry: Lock["packages"][string]): Lock => ({
  ...PLANTED,
  packages: { ...PLANTED.packages, "node_modules/a": { integrity: "x", ...entry } },
});

test("package.json asks for one exact version of everything", () => {
  expect(checkExactVersions(manifest)).toEqual([]);
  for (const version of ["^1.0.0", "~1.0.0", "1.x", "latest", ">=1.0.0", "*"])
    expect(checkExactVersions({ devDependencies: { a: version } })).toHaveLength(1);
  expect(checkExactVersions({ dependencies: { a: "1.0.0-rc.1" } })).toEqual([]);
});

test("the lock file holds every package for every platform, with a checksum and without an address", () => {
  expect(checkLock(lock, manifest)).toEqual([]);
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
  expect(checkLock(PLANTED, plantedManifest)).toEqual([]);
  expect(checkLock(without("node_modules/a-linux"), plantedManifest)).toEqual([
    "node_modules/a: a-linux is missing from the lock",
  ]);
  expect(checkLock(withEntry({ resolved: "https://example.com/a.tgz" }), plantedManifest)).toHaveLength(1);
  expect(checkLock(PLANTED, { dependencies: { a: "1.0.1" } })).toHaveLength(1);
  expect(checkLock(PLANTED, { ...plantedManifest, optionalDependencies: { b: "1.0.0" } })).toHaveLength(1);
});

test("every installed package has a licence that lets the executable be given to anybody", () => {
  expect(checkLicences(lock)).toEqual([]);
  expect(checkLicences(PLANTED)).toEqual([]);
  for (const entry of [
    { license: "GPL-3.0-only" },
    {},
    { license: "MIT AND GPL-3.0-only" },
    { license: "MPL-2.0" },
  ])
    expect(checkLicences(withEntry(entry))).toHaveLength(1);
  expect(checkLicences(withEntry({ license: "MPL-2.0", dev: true }))).toEqual([]);
});

test("the linter catches what it is set to guard: long files and functions, any, console and lost promises", () => {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-planted-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, index) => `  void ${index};`).join("\n");
  writeFileSync(join(folder, "tsconfig.json"), '{"compilerOptions":{"strict":true},"include":["*.ts"]}');
  writeFileSync(
    join(folder, "planted.ts"),
    `export function long(): void {\n${lines(70)}\n}\n` +
      `export function short(): void {\n${lines(60)}\n}\n` +
      "export const loose = (value: any): void => console.log(value);\n" +
      "export function lose(): void {\n  Promise.resolve(1);\n}\n" +
      `export const many = [\n${"  1,\n".repeat(300)}];\n`,
  );
  const args = ["-c", join(root, "scripts/oxlint.json"), "--type-aware", "--format=unix", folder];
  const { status, stdout } = spawnSync(join(root, "node_modules/.bin/oxlint"), args, { encoding: "utf8" });
  expect(status).toBe(1);
  for (const name of [
    "max-lines",
    "max-lines-per-function",
    "no-explicit-any",
    "no-console",
    "no-floating-promises",
  ]) {
    expect(stdout).toContain(`(${name})`);
  }
  expect(stdout.match(/\(max-lines-per-function\)/g)).toHaveLength(1);
});
