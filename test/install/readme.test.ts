import { spawn, spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { blocksOf } from "../recipes/recipe-blocks.ts";
import { whenEnded } from "../support/program.ts";
import { until } from "../support/until.ts";
import { copyDebian, type Debian, DEBIANS, type DebianRoot, prepareDebian } from "./debian-root.ts";
import { canInstall, newRelease, repository } from "./made-release.ts";

/*
 * A reader who knows nothing follows the beginning of the README on a bare system, command by command as they stand there. The
 * release is a folder, into which the reader went.
 */

const readme = readFileSync(join(repository, "README.md"), "utf8").replaceAll("RELEASE", "/srv/new");

/** The first block of a shell after a text. */
function commandsAfter(text: string): string {
  const [, after = ""] = readme.split(text);
  return blocksOf(after).find(({ language }) => language === "sh")?.text ?? `nothing after: ${text}`;
}

const roots = new Map<Debian, string | null>();
beforeAll(() => {
  for (const suite of canInstall ? DEBIANS : []) roots.set(suite, prepareDebian(suite));
}, 900_000);

const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  TERM: "dumb",
};

/** Starts the server in an empty folder, on a terminal and with a network of its own, as on a machine that has nothing else. */
function startOnTerminal(root: DebianRoot) {
  // The terminal is this machine's, since a bare root has none.
  const begin = `ip link set lo up && mkdir "$1/mine" && exec script -qec "chroot $1 sh -c 'cd /mine && exec $2'" /dev/null`;
  const apart = ["--net", "--pid", "--fork", "--kill-child", "sh", "-c", begin, "sh"];
  const child = spawn("unshare", [...apart, root.path, commandsAfter("**2. Start it**").trimEnd()], {
    env: ENVIRONMENT,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let screen = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part: Buffer) => (screen += String(part)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await whenEnded(child);
  });
  const onIt = (...words: readonly string[]): string => {
    const own = ["-t", String(child.pid), "--net", ...words];
    const { stdout, stderr } = spawnSync("nsenter", own, { encoding: "utf8", env: ENVIRONMENT });
    return `${stdout}${stderr}`;
  };
  return {
    /** What is found on the screen. @throws Error if the server ends before it is there. */
    shown: (pattern: RegExp): Promise<string> =>
      until(() => {
        if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${screen}`);
        return pattern.exec(screen)?.[0];
      }),
    /** Opens an address as a browser on that machine would. */
    open: (url: string): string => onIt("curl", "-sS", "-w", "\n%{http_code}", url),
    /** What a second terminal in the server's folder shows; curl, which a bare Debian has not, is this machine's. */
    type: (commands: string): string => onIt("sh", "-c", SECOND_TERMINAL, "sh", root.path, commands),
  };
}

/** In the server's folder of the root, with this machine's shell and curl, since a bare Debian has no curl. */
const SECOND_TERMINAL = `
  root=$1
  cd "$root/mine"
  formsvc() { chroot "$root" sh -c 'cd /mine && exec formsvc "$@"' sh "$@"; }
  eval "$2"
`;

describe.skipIf(!canInstall).each(DEBIANS)("a reader of the README on a bare Debian %s", (suite) => {
  test(
    "installs with the script, serves, opens the link that is printed, and stores a post",
    { timeout: 900_000 },
    async () => {
      const source = roots.get(suite);
      if (source === undefined || source === null) return;
      const root = copyDebian(source);
      cpSync(newRelease, join(root.path, "srv/new"), { recursive: true });
      root.mustRun(`cd /srv/new && ${commandsAfter("**1. Install it.**")}`);
      const server = startOnTerminal(root);
      const opened = server.open(await server.shown(/http:\/\/\S+\/dashboard\/\S+/));
      expect(opened).toMatch(/\n200$/);
      expect(opened).toContain('type="password"');
      const told = server.type(commandsAfter("## The same in a terminal"));
      const answer = /\{"success":true,"message":"Submission received","submission_id":"(sub_\w+)"\}/.exec(
        told,
      );
      const [whole = told, id = ""] = answer ?? [];
      expect(told.replace(whole, "")).toContain(id || "the answer to a post");
    },
  );
});
