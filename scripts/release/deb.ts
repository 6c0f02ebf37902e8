import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Target } from "../executable.ts";
import { zstd } from "./compress.ts";
import { file, type PackedFile } from "./packed-file.ts";
import type { Executable, Parts } from "./parts.ts";
import { packTar } from "./tar.ts";

/** Debian's names of the processors. */
export const ARCHITECTURES: Partial<Record<Target, string>> = {
  "linux-x64": "amd64",
  "linux-arm64": "arm64",
};

/** The texts of a package that the program itself can write. */
export interface Texts {
  readonly service: string;
  readonly socket: string;
  readonly manPage: string;
  readonly completions: Readonly<Record<"bash" | "zsh" | "fish", string>>;
  /** The maintainer scripts by their names. */
  readonly scripts: Readonly<Record<string, string>>;
}

/** A package, with what a repository says about it. */
export interface Deb {
  readonly name: string;
  readonly content: Buffer;
  readonly architecture: string;
  readonly control: string;
}

/** Makes a package for Debian and related systems: the program, its service and socket, and what belongs to them. */
export function makeDeb(target: Target, executable: Executable, parts: Parts, texts: Texts): Deb {
  const architecture = ARCHITECTURES[target] ?? "";
  const files = packedFiles(executable.bytes, parts, texts);
  const control = controlOf(architecture, files, executable, parts);
  const controlFiles = [
    file("control", control),
    file("md5sums", files.map(md5Line).join("")),
    file("conffiles", "/etc/formsvc/formsvc.config.json\n"),
    ...Object.entries(texts.scripts).map(([name, text]) => file(name, text, 0o755)),
  ];
  const members = [
    ["debian-binary", Buffer.from("2.0\n")],
    // Even a dpkg that cannot read zstd reads the control part, to say what it lacks. Therefore this part is not compressed with zstd.
    ["control.tar.gz", gzipSync(packTar(controlFiles, parts.seconds, "./"))],
    ["data.tar.zst", zstd(packTar(files, parts.seconds, "./"))],
  ] as const;
  const name = `formsvc_${parts.version}_${architecture}.deb`;
  return { name, content: packAr(members, parts.seconds), architecture, control };
}

function md5Line({ path, content = Buffer.alloc(0) }: PackedFile): string {
  return `${createHash("md5").update(content).digest("hex")}  ${path}\n`;
}

/** The packages of Debian that have the libraries, with the first version that has everything which this Node needs. */
const LIBRARY_PACKAGES: Readonly<Record<string, string>> = {
  "libstdc++.so.6": "libstdc++6 (>= 5.2)",
  "libgcc_s.so.1": "libgcc-s1 (>= 4.2)",
};
const LIBC_FILES = /^(?:lib(?:c|m|dl|rt|pthread)\.so\.|ld-linux)/;

function dependencies({ needed }: Executable): string {
  const packages = needed.map((name) => (LIBC_FILES.test(name) ? "libc6 (>= 2.28)" : LIBRARY_PACKAGES[name]));
  const unknown = needed.filter((_, index) => packages[index] === undefined);
  if (unknown.length > 0) throw new Error(`no package of Debian is known for ${unknown.join(" ")}`);
  return [...new Set(packages)].join(", ");
}

function controlOf(
  architecture: string,
  files: readonly PackedFile[],
  executable: Executable,
  parts: Parts,
): string {
  const size = files.reduce((total, { content }) => total + Math.ceil((content?.length ?? 0) / 1024), 0);
  return [
    "Package: formsvc",
    `Version: ${parts.version}`,
    `Architecture: ${architecture}`,
    "Maintainer: formsvc <formsvc@formsvc.invalid>",
    `Installed-Size: ${size}`,
    `Depends: ${dependencies(executable)}`,
    "Recommends: ca-certificates",
    "Section: web",
    "Priority: optional",
    ...(parts.url === "" ? [] : [`Homepage: ${parts.url}`]),
    "Description: form backend in one executable and one SQLite file",
    " It takes posts of forms, checks them against a schema, scores them for spam,",
    " stores them, and sends them on by e-mail and webhooks. A dashboard shows them.",
    "",
  ].join("\n");
}

function packedFiles(executable: Buffer, parts: Parts, texts: Texts): readonly PackedFile[] {
  const docs = "usr/share/doc/formsvc";
  return [
    file("usr/bin/formsvc", executable, 0o755),
    file("etc/formsvc/formsvc.config.json", CONFIGURATION),
    file("usr/lib/systemd/system/formsvc.service", texts.service),
    file("usr/lib/systemd/system/formsvc.socket", texts.socket),
    file("usr/share/bash-completion/completions/formsvc", texts.completions.bash),
    file("usr/share/zsh/vendor-completions/_formsvc", texts.completions.zsh),
    file("usr/share/fish/vendor_completions.d/formsvc.fish", texts.completions.fish),
    file("usr/share/man/man1/formsvc.1.gz", gzipSync(texts.manPage, { level: 9 })),
    file(`${docs}/copyright`, copyright(parts)),
    file(`${docs}/THIRD-PARTY-LICENSES.txt.gz`, gzipSync(parts.thirdParty, { level: 9 })),
    file(`${docs}/changelog.gz`, gzipSync(changelog(parts), { level: 9 })),
    file("usr/share/lintian/overrides/formsvc", OVERRIDES),
  ];
}

/** With this configuration, root's commands find the database of the service without a flag. */
const CONFIGURATION = `${JSON.stringify({ database: { path: "/var/lib/formsvc/formsvc.db" } }, null, 2)}\n`;

/**
 * Node is built into the executable as its makers built it, with its own libraries and at a fixed address. Therefore these warnings are
 * expected.
 */
const OVERRIDES = `formsvc: embedded-library
formsvc: unstripped-binary-or-object
formsvc: hardening-no-pie
`;

function copyright({ license }: Parts): string {
  const text = license
    .trim()
    .split("\n")
    .map((line) => (line === "" ? " ." : ` ${line}`))
    .join("\n");
  const holder = /^Copyright.*$/m.exec(license)?.[0].replace(/^Copyright( \(c\))? /, "") ?? "formsvc";
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: formsvc
Comment: The licences of the works that the executable contains are in
 THIRD-PARTY-LICENSES.txt.gz beside this file.

Files: *
Copyright: ${holder}
License: Expat

License: Expat
${text}
`;
}

function changelog(parts: Parts): string {
  const date = new Date(parts.seconds * 1000).toUTCString().replace("GMT", "+0000");
  return `formsvc (${parts.version}) stable; urgency=medium

  * Release ${parts.version}.

 -- formsvc <formsvc@formsvc.invalid>  ${date}
`;
}

/** Makes an archive in the format of Debian packages. */
function packAr(members: readonly (readonly [name: string, content: Buffer])[], seconds: number): Buffer {
  const parts: Buffer[] = [Buffer.from("!<arch>\n")];
  for (const [name, content] of members) {
    const fields = [
      name.padEnd(16),
      String(seconds).padEnd(12),
      "0     ",
      "0     ",
      "100644  ",
      String(content.length).padEnd(10),
    ];
    parts.push(Buffer.from(`${fields.join("")}\`\n`), content);
    if (content.length % 2 === 1) parts.push(Buffer.from("\n"));
  }
  return Buffer.concat(parts);
}
