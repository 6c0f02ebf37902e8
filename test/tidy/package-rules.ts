export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockedPackage extends Manifest {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

export interface Lock {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** Licences with which the executable may be given to anybody. */
const LICENCES = new Set([
  "MIT",
  "MIT-0",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "Unlicense",
  "CC0-1.0",
  "Python-2.0",
  "Zlib",
]);
/** Licences of tools that we use but do not give to others. */
const TOOL_LICENCES = new Set(["MPL-2.0", "CC-BY-4.0"]);

const KINDS = ["dependencies", "devDependencies", "optionalDependencies"] as const;

export function checkExactVersions(manifest: Manifest): readonly string[] {
  return KINDS.flatMap((kind) =>
    Object.entries(manifest[kind] ?? {})
      .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version))
      .map(([name, version]) => `${name}: ${version} is not one exact version`),
  );
}

/** Finds what makes `npm ci` fail or differ on another machine: an address, a lock file of another manifest, a missing package. */
export function checkLock(lock: Lock, manifest: Manifest): readonly string[] {
  const problems: string[] = [];
  for (const kind of KINDS) {
    const [wanted, locked] = [manifest[kind] ?? {}, lock.packages[""]?.[kind] ?? {}];
    if (JSON.stringify(sorted(wanted)) !== JSON.stringify(sorted(locked)))
      problems.push(`${kind}: the lock is of another package.json`);
  }
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.resolved !== undefined) problems.push(`${path}: names the address ${entry.resolved}`);
    if (path !== "" && entry.integrity === undefined) problems.push(`${path}: has no checksum`);
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      if (!isLocked(lock, path, name))
        problems.push(`${path || "package.json"}: ${name} is missing from the lock`);
    }
  }
  return problems;
}

export function checkLicences(lock: Lock): readonly string[] {
  return Object.entries(lock.packages)
    .filter(([path]) => path !== "")
    .filter(([, { license = "", dev = false }]) => !isAllowed(license, dev))
    .map(([path, { license = "no licence" }]) => `${path}: ${license}`);
}

function isAllowed(expression: string, dev: boolean): boolean {
  const choices = expression.replace(/[()]/g, "").split(" OR ");
  return choices.some((choice) =>
    choice.split(" AND ").every((licence) => LICENCES.has(licence) || (dev && TOOL_LICENCES.has(licence))),
  );
}

/** Looks for a package as Node does: beside the package that needs it, then in each folder above. */
function isLocked(lock: Lock, from: string, name: string): boolean {
  let folder = from;
  for (;;) {
    if (Object.hasOwn(lock.packages, `${folder === "" ? "" : `${folder}/`}node_modules/${name}`)) return true;
    if (folder === "") return false;
    const above = folder.lastIndexOf("/node_modules/");
    folder = above === -1 ? "" : folder.slice(0, above);
  }
}

function sorted(versions: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(versions).sort(([a], [b]) => (a < b ? -1 : 1));
}
