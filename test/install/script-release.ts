import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { file } from "../../scripts/release/packed-file.ts";
import { openSigner } from "../../scripts/release/sign.ts";
import { packTar } from "../../scripts/release/tar.ts";

/** Writes what install.sh reads of a release with this program: signed like every release, and packed without the time to compress it. */
export function writeScriptRelease(folder: string, version: string, program: Buffer): void {
  const name = `formsvc-${version}-linux-x64`;
  const seconds = Math.floor(Date.now() / 1000);
  const archive = gzipSync(packTar([file(`${name}/formsvc`, program, 0o755)], seconds), { level: 0 });
  const sums = `${createHash("sha256").update(archive).digest("hex")}  ${name}.tar.gz\n`;
  const signer = openSigner(seconds);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.tar.gz`), archive);
  writeFileSync(join(folder, "SHA256SUMS"), sums);
  writeFileSync(join(folder, "SHA256SUMS.sig"), signer.signWithSsh(sums));
  writeFileSync(join(folder, "SHA256SUMS.asc"), signer.signWithOpenPgp(sums, "detached"));
  signer.close();
}

/** More than what tests cut downloads off after. */
const SMALL_BYTES = 2_000_000;

/** A program that knows its version and nothing else: to unpack the real one is most of the time that install.sh takes. */
export function smallProgram(version: string): Buffer {
  return Buffer.concat([Buffer.from(`#!/bin/sh\necho ${version}\nexit\n`), randomBytes(SMALL_BYTES)]);
}
