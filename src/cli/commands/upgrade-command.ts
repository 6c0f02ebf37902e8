import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { FormsvcError } from "../../foundation/errors.ts";
import { readWhole } from "../../foundation/read-whole.ts";
import { isSignedBy } from "../../foundation/release-signature.ts";
import { version } from "../../foundation/version.ts";
import { addCommand, command } from "../command.ts";

export function register(program: Command): void {
  addCommand(program, upgrade);
}

/** The address and key that the release was built with; absent in a build from source. */
declare const FORMSVC_RELEASE: { readonly url: string; readonly key: string } | undefined;
const built = typeof FORMSVC_RELEASE === "undefined" ? { url: "", key: "" } : FORMSVC_RELEASE;

const TIMEOUT_MS = 10_000;
/** The list has some ten lines, so a longer file is something else. */
const MAX_BYTES = 65_536;

const HOW_TO_UPGRADE =
  "this command installs nothing. To see whether a release is newer: formsvc upgrade --check. To upgrade: run install.sh of the new release, " +
  "or apt-get install the new package, and restart the server; see: formsvc docs install";

const upgrade = command({
  usage: "upgrade",
  isLocal: true,
  summary: "Say whether a release is newer than this program",
  notes: `Reads the release's list of checksums and its signature, and nothing else; nothing is installed. To install: install.sh, or the
system's package manager. Exit code 0 whether or not it is newer; 1 if the release cannot be read or its signature is wrong.`,
  options: [
    { flags: "--check", summary: "only look, and install nothing; must be given" },
    {
      flags: "--from <place>",
      summary: "folder or address of the release (else the one this program was built for)",
    },
    {
      flags: "--key <file>",
      summary: "public key of the releases, like release.pub (else the one this program was built with)",
    },
  ],
  examples: [
    "formsvc upgrade --check",
    "formsvc upgrade --check --from https://example.com/formsvc --key release.pub",
  ],
  action: async ({ output }, { check, from, key: keyFile }) => {
    if (!check) throw new FormsvcError("usage", HOW_TO_UPGRADE);
    const source = (from ?? built.url).replace(/\/+$/, "");
    if (source === "")
      throw new FormsvcError("usage", "this program knows no address of releases: give --from");
    const key = keyFile === null ? built.key : (await readFrom(keyFile)).toString("latin1");
    if (key === "") throw new FormsvcError("usage", "this program knows no key of releases: give --key");
    const list = await readFrom(`${source}/SHA256SUMS`);
    const signature = await readFrom(`${source}/SHA256SUMS.sig`);
    if (!isSignedBy(list, signature.toString("latin1"), key))
      throw new FormsvcError(
        "failed",
        `the signature of ${source}/SHA256SUMS is wrong: do not use this release`,
      );
    const latest = findVersion(list.toString("latin1"), source);
    const newer = compareVersions(latest, version) > 0;
    if (output.isJson) return output.json({ current: version, latest, newer });
    return output.line(
      newer
        ? `${latest} is newer than this program, ${version}`
        : `this program, ${version}, is not older than ${latest}`,
    );
  },
});

/** Reads a file of a folder or of a web server. @throws FormsvcError failed if it cannot be read in time, or is too long */
async function readFrom(source: string): Promise<Buffer> {
  try {
    const bytes = /^https?:\/\//.test(source) ? await fetchBytes(source) : await readFile(join(source));
    if (bytes.length > MAX_BYTES) throw new Error("the file is too long");
    return bytes;
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new FormsvcError("failed", `cannot read ${source}: ${why}`, { cause: error });
  }
}

async function fetchBytes(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  const bytes = await readWhole(response.body, MAX_BYTES);
  if (bytes === null) throw new Error("the answer is too long");
  return bytes;
}

/** @throws FormsvcError failed if the list names no archive, or archives of several versions */
function findVersion(list: string, source: string): string {
  const versions = new Set(
    [...list.matchAll(/ formsvc-(\d+\.\d+\.\d+)-[a-z]/g)].map(([, found = ""]) => found),
  );
  const [only, ...more] = versions;
  if (only === undefined || more.length > 0)
    throw new FormsvcError("failed", `${source} does not hold the files of one release`);
  return only;
}

/** Compares two versions. The result is above 0 if `a` is newer. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(".").map(Number));
  const at = [0, 1, 2].find((index) => left?.[index] !== right?.[index]);
  return at === undefined ? 0 : (left?.[at] ?? 0) - (right?.[at] ?? 0);
}
