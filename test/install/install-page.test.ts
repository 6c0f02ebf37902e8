import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../faults/server.ts";
import { blocksOf } from "../recipes/recipe-blocks.ts";
import { whenEnded } from "../support/program.ts";
import { until } from "../support/until.ts";
import { type Debian, DEBIANS, fillDebian, READERS_TOOLS } from "./bare-systems.ts";
import { copyDebian, type DebianRoot, serveIn } from "./debian-root.ts";
import { repository } from "./make-release.ts";
import { canInstall, newRelease, oldRelease, OLD_VERSION, VERSION } from "./made-release.ts";

/*
 * A reader follows docs/install.md on a bare system, command by command as they stand there. The release is on a web server. The
 * reader has what the page calls for and a bare system lacks: curl, and ssh-keygen for the archive by hand.
 */

const page = readFileSync(join(repository, "docs/install.md"), "utf8");

/** The commands below a heading, in their order. */
function commandsBelow(heading: string): string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  return blocksOf(section)
    .filter(({ language }) => language === "sh")
    .map(({ text }) => text);
}

/** What the reader writes in the place of the page's names. */
function own(commands: string, release: string): string {
  return commands.replaceAll("RELEASE", release).replaceAll("VERSION", VERSION);
}

const servers: ChildProcess[] = [];
afterAll(async () => {
  for (const server of servers) {
    server.kill("SIGKILL");
    await whenEnded(server);
  }
});

/** Puts the files of a folder on a web server for all tests. */
async function publish(folder: string): Promise<string> {
  const port = await freePort();
  const words = ["-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, String(port)];
  const child = spawn("python3", words, { stdio: "ignore" });
  servers.push(child);
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/SHA256SUMS`).catch(() => null))?.ok === true);
  return url;
}

/** Makes a form as the page does, serves, and posts once. */
async function expectPostStored(root: DebianRoot): Promise<void> {
  root.mustRun("mkdir -p -m 700 /var/lib/formsvc");
  const keys = root.mustRun("formsvc endpoint create --name A --schema - --env", "{}");
  const port = await freePort();
  await serveIn(root, `formsvc serve --port ${port}`, port);
  const answer = await fetch(`http://127.0.0.1:${port}/submit`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${/FORMSVC_SECRET_KEY=(\S+)/.exec(keys)?.[1] ?? ""}`,
      "content-type": "application/json",
    },
    body: '{"name":"Ada"}',
  });
  expect(answer.status).toBe(200);
  expect(root.mustRun("formsvc submission list --json")).toContain('"sub_');
}

const roots = new Map<Debian, string | null>();
const published = { old: "", new: "" };
beforeAll(async () => {
  if (!canInstall) return;
  for (const system of DEBIANS)
    roots.set(system, fillDebian(system, READERS_TOOLS, `following docs/install.md on ${system}`));
  published.old = await publish(oldRelease);
  published.new = await publish(newRelease);
}, 900_000);

describe.skipIf(!canInstall).each(DEBIANS)("a reader of docs/install.md on %s", (system) => {
  const enter = (skip: (why: string) => never): DebianRoot => {
    const root = copyDebian(roots.get(system) ?? skip("no root"));
    // Nothing is fetched from a mirror.
    root.mustRun("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*");
    return root;
  };

  test(
    "adds the release's repository to apt, installs from it, and a post is stored",
    { timeout: 900_000 },
    async ({ skip }) => {
      const root = enter(skip);
      const [, fromRepository = "exit 9"] = commandsBelow("Debian and Ubuntu");
      const told = root.mustRun(own(`set -e\n${fromRepository}`, published.new));
      expect(told).not.toMatch(/warning|NO_PUBKEY|not signed/i);
      expect(root.mustRun("formsvc version")).toBe(`${VERSION}\n`);
      await expectPostStored(root);
      // Root's commands find the service's database without a flag.
      expect(existsSync(join(root.path, "var/lib/formsvc/formsvc.db"))).toBe(true);
    },
  );

  test("fetches install.sh and runs it, and a post is stored", { timeout: 900_000 }, async ({ skip }) => {
    const root = enter(skip);
    if (system === UPGRADED) upgradeByScript(root);
    else root.mustRun(installBy(published.new));
    expect(root.mustRun("formsvc version")).toBe(`${VERSION}\n`);
    await expectPostStored(root);
  });

  test(
    "verifies the archive by hand and installs it, and a changed archive does not verify",
    { timeout: 900_000 },
    ({ skip }) => {
      const root = enter(skip);
      const [byHand = "exit 9"] = commandsBelow("The archive by hand");
      const archive = `formsvc-${VERSION}-linux-x64.tar.gz`;
      const files = ["SHA256SUMS", "SHA256SUMS.sig", "release.pub", archive];
      root.mustRun(`mkdir /srv/taken && cd /srv/new && cp ${files.join(" ")} /srv/taken`);
      const commands = `cd /srv/taken && set -e\n${byHand}`;
      root.mustRun(`printf x >> /srv/taken/${archive}`);
      expect(root.run(commands)).toMatchObject({
        status: 1,
        stdout: expect.stringContaining("FAILED") as unknown,
      });
      expect(root.run("formsvc version").status).toBe(127);
      root.mustRun(`cp /srv/new/${archive} /srv/taken`);
      expect(root.mustRun(commands)).toMatch(/Good "formsvc" signature/);
      expect(root.mustRun("formsvc version")).toBe(`${VERSION}\n`);
    },
  );
});

/** The system on which the program that install.sh replaces is another version: the script's own tests upgrade on all. */
const UPGRADED: Debian = "Debian 13";

function installBy(release: string): string {
  const [install = "exit 9"] = commandsBelow("install.sh");
  return own(`set -e\n${install}`, release);
}

/** The reader is told of a newer version before the upgrade and not after it. */
function upgradeByScript(root: DebianRoot): void {
  root.mustRun(installBy(published.old));
  expect(root.mustRun("formsvc version")).toBe(`${OLD_VERSION}\n`);
  const check = own(/`(formsvc upgrade --check --from RELEASE)`/.exec(page)?.[1] ?? "exit 9", published.new);
  const said = { current: OLD_VERSION, latest: VERSION, newer: true };
  expect(JSON.parse(root.mustRun(`${check} --json`))).toEqual(said);
  root.mustRun(installBy(published.new));
  expect(JSON.parse(root.mustRun(`${check} --json`))).toEqual({ ...said, current: VERSION, newer: false });
}
