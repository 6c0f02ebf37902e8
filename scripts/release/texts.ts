import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createProgram } from "../../src/cli/program.ts";
import { serviceUnit, socketUnit } from "../../src/cli/systemd-units.ts";
import type { Texts } from "./deb.ts";
import { renderManPage } from "./man-page.ts";
import type { Parts } from "./parts.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const SCRIPTS = ["postinst", "prerm", "postrm"] as const;

/** What the program prints about itself, and the scripts of the package for Debian. */
export async function readTexts({ version, seconds }: Parts): Promise<Texts> {
  const completion = (shell: string): string =>
    execFileSync(process.execPath, [main, "completion", shell], { encoding: "utf8" });
  return {
    service: serviceUnit(["/usr/bin/formsvc", "serve"]),
    socket: socketUnit("127.0.0.1:8787"),
    manPage: renderManPage(await createProgram(undefined), version, seconds),
    completions: { bash: completion("bash"), zsh: completion("zsh"), fish: completion("fish") },
    scripts: Object.fromEntries(SCRIPTS.map((name) => [name, readTemplate(`deb-${name}.sh`)])),
  };
}

/** A file beside this one. */
export function readTemplate(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
