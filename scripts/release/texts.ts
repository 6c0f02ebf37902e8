import { readFileSync } from "node:fs";
import { renderCompletion } from "../../src/cli/commands/completion-command.ts";
import { createProgram } from "../../src/cli/program.ts";
import { serviceUnit, socketUnit } from "../../src/cli/commands/systemd-units.ts";
import type { Texts } from "./deb.ts";
import { renderManPage } from "./man-page.ts";
import type { Parts } from "./parts.ts";

const SCRIPTS = ["postinst", "prerm", "postrm"] as const;

/** Collects what the program writes about itself, and the scripts of the package for Debian. */
export async function readTexts({ version, seconds }: Parts): Promise<Texts> {
  const program = await createProgram(undefined);
  const completion = async (shell: string): Promise<string> => `${await renderCompletion(program, shell)}\n`;
  return {
    service: serviceUnit(["/usr/bin/formsvc", "serve"]),
    socket: socketUnit("127.0.0.1:8787"),
    manPage: renderManPage(program, version, seconds),
    completions: {
      bash: await completion("bash"),
      zsh: await completion("zsh"),
      fish: await completion("fish"),
    },
    scripts: Object.fromEntries(SCRIPTS.map((name) => [name, readTemplate(`deb-${name}.sh`)])),
  };
}

/** Reads a file beside this one. */
export function readTemplate(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
