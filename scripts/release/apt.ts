import { gzipSync } from "node:zlib";
import type { Deb } from "./deb.ts";
import type { Made } from "./parts.ts";
import { sha256 } from "./sha256.ts";
import type { Signer } from "./sign.ts";

/** Makes a signed repository for apt: suite stable, component main. It does not expire, so that an archived release stays usable. */
export function makeAptRepository(debs: readonly Deb[], seconds: number, signer: Signer): readonly Made[] {
  const pool = debs.map(({ name, content }) => ({ name: `apt/pool/main/f/formsvc/${name}`, content }));
  const architectures = debs.map(({ architecture }) => architecture).sort();
  const lists = debs.flatMap((deb) => {
    const text = packagesEntry(deb);
    const folder = `main/binary-${deb.architecture}`;
    return [
      { name: `${folder}/Packages`, content: Buffer.from(text) },
      { name: `${folder}/Packages.gz`, content: gzipSync(text, { level: 9 }) },
    ];
  });
  const release = [
    "Origin: formsvc",
    "Label: formsvc",
    "Suite: stable",
    "Codename: stable",
    `Date: ${new Date(seconds * 1000).toUTCString().replace("GMT", "UTC")}`,
    `Architectures: ${architectures.join(" ")}`,
    "Components: main",
    "Description: formsvc, a form backend",
    "SHA256:",
    ...lists.map(({ name, content }) => ` ${sha256(content)} ${String(content.length).padStart(16)} ${name}`),
    "",
  ].join("\n");
  const dists = "apt/dists/stable";
  return [
    ...pool,
    ...lists.map(({ name, content }) => ({ name: `${dists}/${name}`, content })),
    { name: `${dists}/Release`, content: release },
    { name: `${dists}/Release.gpg`, content: signer.signWithOpenPgp(release, "detached") },
    { name: `${dists}/InRelease`, content: signer.signWithOpenPgp(release, "around") },
    { name: "apt/formsvc-archive-key.asc", content: signer.openPgpPublicText },
  ];
}

function packagesEntry({ name, content, control }: Deb): string {
  const [head, description = ""] = control.trimEnd().split("\nDescription: ");
  return [
    head,
    `Filename: pool/main/f/formsvc/${name}`,
    `Size: ${content.length}`,
    `SHA256: ${sha256(content)}`,
    `Description: ${description}`,
    "",
  ].join("\n");
}
