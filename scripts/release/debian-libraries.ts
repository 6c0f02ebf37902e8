import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "../executable.ts";
import { neededLibraries } from "../elf.ts";
import { ARCHITECTURES } from "./deb.ts";
import { file, type PackedFile } from "./packed-file.ts";

/** The packages of Debian that contain the libraries of the program. */
const PACKAGES = ["libc6", "libgcc-s1", "libstdc++6"] as const;

/** The folder in which a processor's loader looks for libraries, and the path at which programs look for the loader. */
const PLACES: Partial<Record<Target, { libraries: string; loader: string }>> = {
  "linux-x64": { libraries: "usr/lib/x86_64-linux-gnu", loader: "lib64/ld-linux-x86-64.so.2" },
  "linux-arm64": { libraries: "usr/lib/aarch64-linux-gnu", loader: "lib/ld-linux-aarch64.so.1" },
};

/** The name of their folder in `RELEASE_PACKAGES`. */
export const DEBIAN_PACKAGES = "debian";

/** Whether this machine has the tools that fetch packages of Debian. */
export function canFetchLibraries(): boolean {
  return ["apt-get", "dpkg-deb"].every((tool) => spawnSync(tool, ["--version"]).error === undefined);
}

/**
 * Fetches the files that are needed beside the program, from the release of Debian that this machine's apt is set up for: the libraries
 * that the program and its addons name, the libraries that these need, and the bundle of certificates. Nothing on this machine changes.
 */
export function fetchLibraries(
  targets: readonly Target[],
  needed: (target: Target) => readonly string[],
): ReadonlyMap<Target, readonly PackedFile[]> {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-packages-"));
  try {
    const packages = installedPackages() ?? join(folder, DEBIAN_PACKAGES);
    if (!existsSync(packages)) downloadPackages(targets, packages);
    return new Map(
      targets.map((target) => {
        const root = unpack(packages, folder, ARCHITECTURES[target] ?? "");
        return [target, [...closure(root, target, needed(target)), certificates(root), versions(root)]];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The folder with packages that were downloaded before, for a trial release; null if there is none. */
function installedPackages(): string | null {
  const folder = process.env["RELEASE_PACKAGES"] ?? "";
  const packages = join(folder, DEBIAN_PACKAGES);
  return folder !== "" && existsSync(packages) ? packages : null;
}

/**
 * Downloads the packages from which an image takes its files into a new folder. It keeps its own lists of packages, so that the
 * architecture of the other processor need not be enabled on this machine.
 */
export function downloadPackages(targets: readonly Target[], packages: string): void {
  const state = mkdtempSync(join(tmpdir(), "formsvc-lists-"));
  try {
    mkdirSync(packages, { recursive: true });
    download(
      state,
      targets.flatMap((target) => ARCHITECTURES[target] ?? []),
      packages,
    );
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

function download(state: string, architectures: readonly string[], packages: string): void {
  for (const name of ["lists/partial", "cache/archives/partial"])
    mkdirSync(join(state, name), { recursive: true });
  writeFileSync(join(state, "status"), "");
  const settings = [
    `Dir::State=${state}`,
    `Dir::State::lists=${state}/lists`,
    `Dir::State::status=${state}/status`,
    `Dir::Cache=${state}/cache`,
    `APT::Architecture=${architectures[0]}`,
    `APT::Architectures=${architectures.join(",")}`,
    "Acquire::Languages=none",
    "Acquire::Retries=3",
    "APT::Sandbox::User=root",
  ];
  const options = ["-qq", ...settings.flatMap((setting) => ["-o", setting])];
  // If another list of this machine cannot be fetched, it does not matter; a missing package does.
  spawnSync("apt-get", [...options, "update"], { stdio: "ignore" });
  const names = [
    ...architectures.flatMap((architecture) => PACKAGES.map((name) => `${name}:${architecture}`)),
    "ca-certificates",
  ];
  execFileSync("apt-get", [...options, "download", ...names], {
    cwd: packages,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function unpack(packages: string, folder: string, architecture: string): string {
  const root = join(folder, architecture);
  mkdirSync(root);
  const names = readdirSync(packages).filter(
    (name) => name.endsWith(`_${architecture}.deb`) || name.endsWith("_all.deb"),
  );
  for (const name of names.sort()) {
    execFileSync("dpkg-deb", ["--extract", join(packages, name), root]);
  }
  writeFileSync(join(root, "packages"), names.map((name) => `${name}\n`).join(""));
  return root;
}

function closure(root: string, target: Target, needed: readonly string[]): readonly PackedFile[] {
  const place = PLACES[target];
  if (place === undefined) throw new Error(`there are no libraries for ${target}`);
  const found = new Map<string, Buffer>();
  const waiting = [...needed];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    const content = readFileSync(findLibrary(root, name));
    found.set(name, content);
    waiting.push(...neededLibraries(content));
  }
  const loader = place.loader.slice(place.loader.lastIndexOf("/") + 1);
  const files = [...found].map(([name, content]) => file(`${place.libraries}/${name}`, content, 0o755));
  return [...files, { path: place.loader, mode: 0o777, link: `/${place.libraries}/${loader}` }];
}

function findLibrary(root: string, name: string): string {
  for (const top of ["lib", "usr/lib"]) {
    const below = readdirSync(join(root, top), { withFileTypes: true }).filter((each) => each.isDirectory());
    for (const folder of ["", ...below.map((each) => each.name)]) {
      const path = join(root, top, folder, name);
      if (existsSync(path)) return realpathSync(path);
    }
  }
  throw new Error(`${name} is in none of the packages ${PACKAGES.join(", ")}`);
}

/** Puts the certificates that Debian trusts into one file, as Debian's own script does. */
function certificates(root: string): PackedFile {
  const folder = join(root, "usr/share/ca-certificates/mozilla");
  const texts = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), "latin1").trimEnd());
  return file("etc/ssl/certs/ca-certificates.crt", `${texts.join("\n")}\n`);
}

function versions(root: string): PackedFile {
  return file("usr/share/doc/formsvc/debian-packages", readFileSync(join(root, "packages")));
}
