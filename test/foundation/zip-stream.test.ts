import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ArchiveMember, zipStream } from "../../src/foundation/zip-stream.ts";
import { unzip } from "../support/read-xlsx.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function archiveOf(members: readonly ArchiveMember[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of zipStream(members)) parts.push(part);
  return Buffer.concat(parts);
}

test("an archive has each member whole, empty ones, large ones and names of any language too", async () => {
  const noise = randomBytes(300_000);
  const archive = await archiveOf([
    { name: "empty.txt", content: [] },
    { name: "Grüße/你好.txt", content: ["one ", "two"] },
    { name: "noise", content: [noise.subarray(0, 7), noise.subarray(7)] },
  ]);
  const members = unzip(archive);
  expect([...members.keys()]).toEqual(["empty.txt", "Grüße/你好.txt", "noise"]);
  expect(members.get("Grüße/你好.txt")?.toString()).toBe("one two");
  expect(members.get("noise")?.equals(noise)).toBe(true);
  expect(unzip(await archiveOf([]))).toEqual(new Map());
});

test.skipIf(!existsSync("/usr/bin/python3"))("another program finds no fault with it", async () => {
  const file = join(temporaryFolder(), "all.zip");
  writeFileSync(file, await archiveOf([{ name: "ä.txt", content: ["x".repeat(100_000)] }]));
  const script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.namelist())";
  expect(execFileSync("python3", ["-c", script, file], { encoding: "utf8" }).trim()).toBe("None ['ä.txt']");
});

test("a member that fails fails the archive, and one that is not read to its end is ended", async () => {
  let isEnded = false;
  async function* content() {
    try {
      yield await Promise.resolve("x");
      throw new Error("the disk is gone");
    } finally {
      isEnded = true;
    }
  }
  await expect(archiveOf([{ name: "a", content: content() }])).rejects.toThrow("the disk is gone");
  expect(isEnded).toBe(true);
  isEnded = false;
  const begun = zipStream([{ name: "a", content: content() }]);
  await begun.next();
  await begun.next();
  await begun.return(undefined);
  expect(isEnded).toBe(true);
});
