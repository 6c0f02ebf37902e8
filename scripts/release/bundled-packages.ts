import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A package of which a part is in an executable. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Of the archive of the package, as `sha512-…` in base64. */
  readonly integrity: string | null;
  readonly folder: string;
}

/** What the lock file says of a package. */
interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
}

/**
 * The packages that the bundler took files of, and the runtime, in the order of their names.
 *
 * @param folder the one that the bundler worked in, with `package-lock.json` and `node_modules/`.
 * @param inputs the files that it took, from that folder.
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

/** Each package once, whatever number of executables it is in. */
export function unite(lists: readonly (readonly BundledPackage[])[]): readonly BundledPackage[] {
  const all = new Map(lists.flat().map((each) => [`${each.name}@${each.version}`, each]));
  return [...all.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** CycloneDX of what is inside, without what differs from run to run. */
export function billOfMaterials(version: string, packages: readonly BundledPackage[]): string {
  const components = packages.map(({ name, version: own, license, integrity }) => ({
    type: "library",
    "bom-ref": `${name}@${own}`,
    name,
    version: own,
    purl: `pkg:npm/${name.replace("@", "%40")}@${own}`,
    licenses: [license.includes(" ") ? { expression: license } : { license: licenceOf(license) }],
    ...(integrity?.startsWith("sha512-") === true && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.slice(7), "base64").toString("hex") }],
    }),
  }));
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

function licenceOf(license: string): { id: string } | { name: string } {
  return /^[\w.-]+$/.test(license) && license !== "NOASSERTION" ? { id: license } : { name: license };
}

/** The texts of the licences that the packages bring. */
export function licences(packages: readonly BundledPackage[]): string {
  const sections = packages.map(
    ({ name, version, license, folder }) =>
      `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${textIn(folder)}`,
  );
  return `The executables contain these works of others.\n\n${sections.join("\n")}`;
}

function textIn(folder: string): string {
  const names = readdirSync(folder).filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name));
  const texts = names.sort().map((name) => readFileSync(join(folder, name), "utf8"));
  if (!existsSync(folder) || texts.length === 0) return "(The package brings no text of its licence.)\n";
  return `${texts.join("\n").trimEnd()}\n`;
}
