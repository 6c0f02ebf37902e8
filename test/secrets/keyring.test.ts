import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeFailure } from "../../src/cli/output/hints.ts";
import type { FormsvcError } from "../../src/foundation/errors.ts";
import { addKey } from "../../src/secrets/key-file.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { parseKeys } from "../../src/secrets/key-list.ts";
import { sealedWith } from "../../src/secrets/seal.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const newKey = (): string => randomBytes(32).toString("base64");
const secret = Buffer.from("a secret");

function keyFile(text: string, mode = 0o600): string {
  const file = join(temporaryFolder(), "secrets.key");
  writeFileSync(file, text, { mode });
  return file;
}

const ofFile = (file: string) => createKeyring({ keyFile: file, key: null });

test("without a key secrets are stored as they are; what looks sealed is refused, for it could not be read back", () => {
  const keyring = createKeyring({ keyFile: null, key: null });
  expect(keyring.seal(secret, "a")).toBe(secret);
  expect(keyring.open(secret, "a")).toBe(secret);
  const sealed = createKeyring({ keyFile: null, key: newKey() }).seal(secret, "a");
  expect(() => keyring.seal(sealed, "a")).toThrow(/looks like one that formsvc has encrypted/);
  expect(() => keyring.open(sealed, "a")).toThrow(/no key is configured: set secrets.keyFile or FORMSVC_SEC/);
});

test("the newest key seals and every key opens; plain secrets from before are read as they are", () => {
  const [older, newer] = [newKey(), newKey()];
  const before = createKeyring({ keyFile: null, key: older });
  const both = createKeyring({ keyFile: null, key: `${newer}, ${older}` });
  expect(both.ids()).toHaveLength(2);
  expect(both.open(before.seal(secret, "a"), "a")).toEqual(secret);
  expect(both.open(secret, "a")).toEqual(secret);
  const sealed = both.seal(secret, "a");
  expect(sealedWith(sealed)).toBe(both.ids()[0]);
  expect(() => before.open(sealed, "a")).toThrow(
    new RegExp(`encrypted with the key ${both.ids()[0]}, which FORMSVC_SECRETS_KEY does not hold`),
  );
});

test("a key that another process puts into the file is found, to open and to seal, without a restart", () => {
  const file = keyFile(newKey());
  const running = ofFile(file);
  const before = running.seal(secret, "a");
  addKey(file, "2026-01-31T03:00:00.000Z");
  expect(running.open(ofFile(file).seal(secret, "a"), "a")).toEqual(secret);
  expect(running.open(before, "a")).toEqual(secret);
  addKey(file, "2026-02-28T03:00:00.000Z");
  expect(sealedWith(running.seal(secret, "a"))).toBe(ofFile(file).ids()[0]);
});

test("a new key stands above the others, whose text stays, in a file that keeps its mode, behind a link that stays", () => {
  const before = `# the first\n${newKey()}  # kept\n`;
  const file = keyFile(before, 0o640);
  const link = join(temporaryFolder(), "link.key");
  symlinkSync(file, link);
  // What a rotation left that died while it wrote.
  writeFileSync(`${file}.new`, "half of a k");
  addKey(link, "2026-01-31T03:00:00.000Z");
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(/^# [0-9a-f]{8}, made 2026-01-31T03:00:00.000Z\n[A-Za-z0-9+/]{43}=\n/);
  expect(text.endsWith(before)).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(ofFile(link).ids()).toHaveLength(2);
  expect(() => statSync(`${file}.new`)).toThrow(/ENOENT/);
});

test("a first key creates its file for the owner alone; if it cannot be created, the message says why", () => {
  const file = join(temporaryFolder(), "secrets.key");
  addKey(file, "2026-01-31T03:00:00.000Z");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(ofFile(file).ids()).toHaveLength(1);
  expect(() => addKey(join(file, "../none/secrets.key"), "")).toThrow(/its folder does not exist/);
});

test("a key file that is wrong is refused with what to do, and its text is never repeated", () => {
  const short = randomBytes(16).toString("base64");
  const cases: [string, RegExp][] = [
    ["", /there is no key in it; make one with: openssl rand -base64 32/],
    ["# nothing\n", /there is no key in it/],
    [short, /key 1 is not the base64 of 32 bytes/],
    [`${newKey()}\n${short}`, /key 2 is not the base64 of 32 bytes/],
    [newKey().slice(0, -1), /key 1 is not/],
    [randomBytes(32).toString("hex"), /key 1 is not/],
    [`${newKey()}\n`.repeat(33), /more than 32 keys/],
    ["#".repeat(70_000), /too large/],
  ];
  for (const [text, reason] of cases) {
    const file = keyFile(text);
    expect(() => ofFile(file), text.slice(0, 80)).toThrow(reason);
  }
  expect(() => parseKeys(short, "secrets.key")).not.toThrow(short);
  const open = keyFile(newKey());
  chmodSync(open, 0o604);
  expect(() => ofFile(open)).toThrow(/everybody may read it; close it with: chmod 600/);
  const none = (): void => {
    try {
      ofFile(join(temporaryFolder(), "none.key"));
    } catch (error) {
      throw new Error(describeFailure(error as FormsvcError), { cause: error });
    }
  };
  expect(none).toThrow(
    /there is no such file; bring it back, or make a first one with: formsvc secrets rotate/,
  );
  const folder = join(temporaryFolder(), "folder");
  mkdirSync(folder, { mode: 0o700 });
  expect(() => ofFile(folder)).toThrow(/is a folder/);
});
