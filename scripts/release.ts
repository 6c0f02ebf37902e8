import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assemble, type Target, targets } from "./executable.ts";

/**
 * Makes what is released, into dist/release/: an executable for each platform, a bill of materials, the licences of
 * what is inside, and checksums of all. Two runs on one commit make the same bytes.
 *
 * Usage: npm run release
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const release = join(root, "dist/release");

rmSync(release, { recursive: true, force: true });
mkdirSync(release, { recursive: true });
for (const target of Object.keys(targets) as Target[]) await makeExecutable(target);
writeFileSync(join(release, "sbom.cdx.json"), billOfMaterials());
writeFileSync(join(release, "THIRD-PARTY-LICENSES.txt"), licences());
copyFileSync(join(root, "LICENSE"), join(release, "LICENSE"));
writeFileSync(join(release, "SHA256SUMS"), checksums());

/** The platform's packages are installed as the lock file names them, whatever machine this is. */
async function makeExecutable(target: Target): Promise<void> {
  const [os = "", cpu = ""] = target.split("-");
  const folder = join(root, "build/release", target);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"])
    copyFileSync(join(root, name), join(folder, name));
  cpSync(join(root, "src"), join(folder, "src"), { recursive: true });
  const libc = os === "linux" ? ["--libc=glibc"] : [];
  const install = ["ci", "--omit=dev", `--os=${os}`, `--cpu=${cpu}`, ...libc, "--no-audit", "--no-fund"];
  execFileSync("npm", install, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const output = join(release, targets[target].file);
  await assemble({ folder, target }, output, stripTool(target));
  process.stdout.write(`${output}\n`);
}

/** Only ELF is stripped, by a tool that knows its processor; null if none is installed. */
function stripTool(target: Target): string | null {
  const tools: Partial<Record<Target, string>> = {
    "linux-x64": "x86_64-linux-gnu-strip",
    "linux-arm64": "aarch64-linux-gnu-strip",
  };
  const tool = tools[target];
  if (tool === undefined) return null;
  if (spawnSync(tool, ["--version"]).error === undefined) return tool;
  process.stderr.write(`${tool} is not installed: the executable for ${target} keeps its debugging names\n`);
  return null;
}

/** CycloneDX of what is inside, without what differs from run to run. */
function billOfMaterials(): string {
  const args = ["sbom", "--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx"];
  const bill = JSON.parse(
    execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64_000_000 }),
  ) as {
    serialNumber?: string;
    metadata: { timestamp?: string; component: { name: string } };
  };
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  // npm calls it as the folder is called.
  bill.metadata.component.name = "formsvc";
  return `${JSON.stringify(bill, null, 2)}\n`;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

/** Of every package that is in any of the executables, with the text that it brings. */
function licences(): string {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const sections = Object.entries(lock.packages).flatMap(([path, { version, license, dev }]) => {
    if (path === "" || dev === true) return [];
    const folders = Object.keys(targets).map((target) => join(root, "build/release", target, path));
    const folder = folders.find((each) => existsSync(each));
    if (folder === undefined) return [];
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    return [`${"=".repeat(80)}\n${name} ${version ?? ""} (${license ?? "see below"})\n\n${textIn(folder)}`];
  });
  return `The executables contain these works of others.\n\n${sections.join("\n")}`;
}

function textIn(folder: string): string {
  const names = readdirSync(folder).filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name));
  const texts = names
    .sort((a, b) => a.localeCompare(b))
    .map((name) => readFileSync(join(folder, name), "utf8"));
  return texts.length === 0
    ? "(The package brings no text of its licence.)\n"
    : `${texts.join("\n").trimEnd()}\n`;
}

function checksums(): string {
  const names = readdirSync(release).sort((a, b) => a.localeCompare(b));
  return names
    .map((name) => {
      const digest = createHash("sha256")
        .update(readFileSync(join(release, name)))
        .digest("hex");
      return `${digest}  ${name}\n`;
    })
    .join("");
}
