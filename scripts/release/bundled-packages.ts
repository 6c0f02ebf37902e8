import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A package that is in an executable, at least in part. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** The checksum of the package's archive, as `sha512-…` in base64; null if the lock file has none. */
  readonly integrity: string | null;
  readonly folder: string;
}

/** A package's entry in the lock file. */
interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
}

/**
 * Lists the packages from which the bundler took files, and the runtime, in the order of their names.
 *
 * @param folder the folder in which the bundler worked, with `package-lock.json` and `node_modules/`
 * @param inputs the files that it took, as paths from that folder
 */
export function readBundledPackages(folder: string, inputs: readonly string[]): readonly BundledPackage[] {
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const paths = new Set(
    inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  return [...paths].sort().map((path) => {
    const locked = lock.packages[path];
    if (locked?.version === undefined)
      throw new Error(`${path} is in the executable and not in the lock file`);
    return {
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version: locked.version,
      license: locked.license ?? "NOASSERTION",
      integrity: locked.integrity ?? null,
      folder: join(folder, path),
    };
  });
}

/** Lists each package once, even if several executables contain it. */
export function unite(lists: readonly (readonly BundledPackage[])[]): readonly BundledPackage[] {
  const all = new Map(lists.flat().map((each) => [`${each.name}@${each.version}`, each]));
  return [...all.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Writes a CycloneDX list of the packages, without anything that differs from run to run. */
export function billOfMaterials(version: string, packages: readonly BundledPackage[]): string {
  const components = packages.map(componentOf);
  const component = { type: "application", "bom-ref": `formsvc@${version}`, name: "formsvc", version };
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component },
    components,
    dependencies: [{ ref: component["bom-ref"], dependsOn: components.map((each) => each["bom-ref"]) }],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function componentOf(each: BundledPackage) {
  const { name, version, license, integrity } = each;
  const parts = compiledParts(each);
  return {
    type: "library",
    "bom-ref": `${name}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    licenses: [license.includes(" ") ? { expression: license } : { license: licenceOf(license) }],
    ...(integrity?.startsWith("sha512-") === true && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.slice(7), "base64").toString("hex") }],
    }),
    ...(parts.length > 0 && { components: parts }),
  };
}

/** Entries among the versions of Node that are not parts: numbers of interfaces, and Node itself. */
const NO_PARTS: ReadonlySet<string> = new Set(["node", "modules", "napi"]);

/** Lists the works of others that are compiled into a package. @throws Error if this process does not run the packaged version of Node */
function compiledParts({ name, version, folder }: BundledPackage) {
  const part = (of: string, own: string) => ({ type: "library", name: of, version: own });
  if (name === "better-sqlite3") {
    const header = readFileSync(join(folder, "deps/sqlite3/sqlite3.h"), "latin1");
    return [part("sqlite", /#define SQLITE_VERSION\s+"([^"]+)"/.exec(header)?.[1] ?? "unknown")];
  }
  if (!/^node-(?:bin-)?(?:linux|darwin|win)-/.test(name)) return [];
  if (process.versions.node !== version)
    throw new Error(`this is Node ${process.versions.node}, and ${version} is released: use npm run release`);
  return Object.entries(process.versions)
    .filter(([of]) => !NO_PARTS.has(of))
    .map(([of, own]) => part(of, own ?? ""))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function licenceOf(license: string): { id: string } | { name: string } {
  return /^[\w.-]+$/.test(license) && license !== "NOASSERTION" ? { id: license } : { name: license };
}

/** Collects the texts of the packages' licences. @throws Error if a package has none */
export function licences(packages: readonly BundledPackage[]): string {
  const sections = packages.map(
    (each) =>
      `${"=".repeat(80)}\n${each.name} ${each.version} (${each.license})\n\n${textOf(each, packages)}\n`,
  );
  return `The executables contain these works of others.\n\n${sections.join("\n")}`;
}

/**
 * Returns the package's own text; else that of the package that stands for all platforms, or of the same Node for another platform; else
 * what its README says about its licence.
 */
function textOf({ name, version, folder }: BundledPackage, packages: readonly BundledPackage[]): string {
  const base = /^(.*)\/argon2-[^/]+$/.exec(folder)?.[1];
  const sameNode = packages.filter((each) => name.startsWith("node-") && each.name.startsWith("node-"));
  const others = sameNode.filter((each) => each.version === version).map((each) => each.folder);
  const folders = [folder, ...(base === undefined ? [] : [join(base, "argon2")]), ...others];
  const text = folders.map(licenceIn).find((each) => each !== "") ?? licenceInReadme(folder);
  if (text === "") throw new Error(`${name} has no text of its licence`);
  return text;
}

function licenceIn(folder: string): string {
  const names = readdirSync(folder).filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name));
  const texts = names.sort().map((name) => readFileSync(join(folder, name), "utf8"));
  return texts.join("\n").trimEnd();
}

function licenceInReadme(folder: string): string {
  const name = readdirSync(folder).find((each) => /^readme\.md$/i.test(each));
  const text = name === undefined ? "" : readFileSync(join(folder, name), "utf8");
  return /^#+ *licen[cs]e[^]*$/im.exec(text)?.[0].trim() ?? "";
}
