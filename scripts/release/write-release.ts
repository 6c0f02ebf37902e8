import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Target } from "../executable.ts";
import { makeArchive } from "./archive.ts";
import type { Made, Parts } from "./parts.ts";
import { openSigner, type Signer } from "./sign.ts";

export type Executables = Partial<Record<Target, Buffer>>;

/** Writes the files of a release into a folder, which is emptied first. */
export function writeRelease(
  folder: string,
  executables: Executables,
  parts: Parts & { readonly bill: string },
): void {
  const signer = openSigner(parts.seconds);
  try {
    const files = makeFiles(executables, parts);
    const below: readonly Made[] = [];
    rmSync(folder, { recursive: true, force: true });
    for (const { name, content } of [...files, ...below, ...signChecksums(files, signer)]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content, { mode: name.endsWith(".sh") ? 0o755 : 0o644 });
    }
  } finally {
    signer.close();
  }
}

/** The files at the top of the folder. */
function makeFiles(executables: Executables, parts: Parts & { readonly bill: string }): readonly Made[] {
  const archives = (Object.entries(executables) as [Target, Buffer][]).map(([target, executable]) =>
    makeArchive(target, executable, parts),
  );
  return [
    ...archives,
    { name: "LICENSE", content: parts.license },
    { name: "THIRD-PARTY-LICENSES.txt", content: parts.thirdParty },
    { name: "sbom.cdx.json", content: parts.bill },
  ];
}

function signChecksums(files: readonly Made[], signer: Signer): readonly Made[] {
  const sums = files
    .map(({ name, content }) => `${createHash("sha256").update(content).digest("hex")}  ${name}\n`)
    .sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1))
    .join("");
  return [
    { name: "SHA256SUMS", content: sums },
    { name: "SHA256SUMS.sig", content: signer.signWithSsh(sums) },
    { name: "SHA256SUMS.asc", content: signer.signWithOpenPgp(sums, "detached") },
    { name: "release.pub", content: `${signer.sshPublicKey} formsvc\n` },
  ];
}
