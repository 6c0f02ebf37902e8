import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { neededLibraries } from "../elf.ts";
import { type Target, targets } from "../executable.ts";
import { makeAptRepository } from "./apt.ts";
import { makeArchive } from "./archive.ts";
import { ARCHITECTURES, type Deb, makeDeb } from "./deb.ts";
import { canFetchLibraries, fetchLibraries } from "./debian-libraries.ts";
import { makeFormula } from "./formula.ts";
import { makeImage } from "./image.ts";
import type { Executable, Made, Parts } from "./parts.ts";
import { sha256 } from "./sha256.ts";
import { openSigner, type Signer } from "./sign.ts";
import { readTemplate, readTexts } from "./texts.ts";

export type Executables = Partial<Record<Target, Executable>>;

/** Reads an executable and finds the libraries that it needs. @param addons the files of the native addons inside it */
export function readExecutable(target: Target, path: string, addons: readonly string[]): Executable {
  const bytes = readFileSync(path);
  if (ARCHITECTURES[target] === undefined) return { bytes, needed: [] };
  const files = [bytes, ...addons.map((addon) => readFileSync(addon))];
  return { bytes, needed: [...new Set(files.flatMap(neededLibraries))].sort() };
}

/**
 * Writes the files of a release into a folder, which is emptied first.
 *
 * @throws Error before the folder is emptied, if something cannot be made
 */
export async function writeRelease(folder: string, executables: Executables, parts: Parts): Promise<void> {
  const signer = openSigner(parts.seconds);
  try {
    const debs = await makeDebs(executables, parts);
    const image = imageOf(executables, parts);
    const files = [...makeFiles(executables, debs, parts, signer), ...listOf(image)];
    const below = [...makeAptRepository(debs, parts.seconds, signer), ...image];
    rmSync(folder, { recursive: true, force: true });
    for (const { name, content } of [...files, ...below, ...signChecksums(files, signer)]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content, { mode: name.endsWith(".sh") ? 0o755 : 0o644 });
    }
  } finally {
    signer.close();
  }
}

function forLinux(executables: Executables): readonly (readonly [Target, Executable])[] {
  return entriesOf(executables).filter(([target]) => ARCHITECTURES[target] !== undefined);
}

function entriesOf(executables: Executables): readonly (readonly [Target, Executable])[] {
  return Object.entries(executables) as [Target, Executable][];
}

async function makeDebs(executables: Executables, parts: Parts): Promise<readonly Deb[]> {
  const texts = await readTexts(parts);
  return forLinux(executables).map(([target, executable]) => makeDeb(target, executable, parts, texts));
}

/** Makes the files at the top of the folder. */
function makeFiles(
  executables: Executables,
  debs: readonly Deb[],
  parts: Parts,
  signer: Signer,
): readonly Made[] {
  const archives: Made[] = [];
  const sums = new Map<string, string>();
  for (const [target, { bytes }] of entriesOf(executables)) {
    const archive = makeArchive(target, bytes, parts);
    archives.push(archive);
    sums.set(targets[target].platform, sha256(archive.content));
  }
  return [
    ...archives,
    ...debs,
    { name: "install.sh", content: makeInstaller(parts, signer) },
    { name: "formsvc.rb", content: makeFormula(parts, sums) },
    { name: "LICENSE", content: parts.license },
    { name: "THIRD-PARTY-LICENSES.txt", content: parts.thirdParty },
    { name: "sbom.cdx.json", content: parts.bill },
  ];
}

/** Fills in the release's address and both public keys in the installation script. */
function makeInstaller({ url }: Parts, { sshPublicKey, openPgpPublicKey }: Signer): string {
  const values: Readonly<Record<string, string>> = {
    RELEASE_URL: url,
    SSH_KEY: sshPublicKey,
    OPENPGP_KEY: openPgpPublicKey.toString("base64"),
  };
  return readTemplate("install.sh").replace(
    /@(RELEASE_URL|SSH_KEY|OPENPGP_KEY)@/g,
    (_, name) => values[name] ?? "",
  );
}

/** Makes the image. If this machine cannot fetch the libraries of the image, it says so and returns no files. */
function imageOf(executables: Executables, parts: Parts): readonly Made[] {
  const linux = forLinux(executables);
  if (linux.length === 0) return [];
  if (!canFetchLibraries()) {
    process.stderr.write(
      "SKIPPED: the container image, whose libraries come from Debian's packages (needs apt-get and dpkg-deb)\n",
    );
    return [];
  }
  const libraries = fetchLibraries(
    linux.map(([target]) => target),
    (target) => executables[target]?.needed ?? [],
  );
  return makeImage(
    linux.map(([target, { bytes }]) => ({
      target,
      executable: bytes,
      libraries: libraries.get(target) ?? [],
    })),
    parts,
  );
}

/** Lists the checksums of the image's files, which are below the top of the folder. The signed list contains the checksum of this list. */
function listOf(image: readonly Made[]): readonly Made[] {
  return image.length === 0 ? [] : [{ name: "image.sha256", content: checksumsOf(image) }];
}

/** Writes checksums as `sha256sum` prints them, in the order of the names. */
function checksumsOf(files: readonly Made[]): string {
  return files
    .map(({ name, content }) => `${sha256(content)}  ${name}\n`)
    .sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1))
    .join("");
}

function signChecksums(files: readonly Made[], signer: Signer): readonly Made[] {
  const sums = checksumsOf(files);
  return [
    { name: "SHA256SUMS", content: sums },
    { name: "SHA256SUMS.sig", content: signer.signWithSsh(sums) },
    { name: "SHA256SUMS.asc", content: signer.signWithOpenPgp(sums, "detached") },
    { name: "release.pub", content: `${signer.sshPublicKey} formsvc\n` },
  ];
}
