import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { countUp, startPosting } from "../faults/poster.ts";
import { freePort } from "../faults/server.ts";
import { whenEnded } from "../support/program.ts";
import { until } from "../support/until.ts";
import {
  copyDebian,
  type Debian,
  DEBIANS,
  type DebianRoot,
  prepareDebian,
  readIn,
  serveIn,
} from "./debian-root.ts";
import { canInstall, newRelease, oldRelease, OLD_VERSION, VERSION } from "./made-release.ts";

/** It only ends what hangs: a bare system is copied and filled, which a busy machine does slowly. */
const INSTALL_MS = 900_000;
const roots = new Map<Debian, string | null>();

beforeAll(() => {
  if (!canInstall) process.stderr.write("SKIPPED: installing on Debian needs root on Linux and x64\n");
  for (const system of canInstall ? DEBIANS : []) roots.set(system, prepareDebian(system));
}, 600_000);
afterAll(() => roots.clear());

/** The file of a release is where apt reads it, as on a web server. */
function addRepository(root: DebianRoot, release: string): void {
  rmSync(join(root.path, "srv/apt"), { recursive: true, force: true });
  cpSync(join(release, "apt"), join(root.path, "srv/apt"), { recursive: true });
  mkdirSync(join(root.path, "etc/apt/keyrings"), { recursive: true });
  cpSync(join(release, "apt/formsvc-archive-key.asc"), join(root.path, "etc/apt/keyrings/formsvc.asc"));
  rmSync(join(root.path, "etc/apt/sources.list"), { force: true });
  root.write(
    "etc/apt/sources.list.d/formsvc.list",
    "deb [signed-by=/etc/apt/keyrings/formsvc.asc] file:/srv/apt stable main\n",
  );
}

const APT = "apt-get update && apt-get install -y --no-install-recommends formsvc";

describe.skipIf(!canInstall).each(DEBIANS)("a bare %s", (system) => {
  test(
    "the package is installed from the signed repository, and a post is stored",
    { timeout: INSTALL_MS },
    async ({ skip }) => {
      const source = roots.get(system) ?? skip("no root");
      const root = copyDebian(source);
      expect(root.run("ls /usr/lib/*/libatomic.so.1").status).not.toBe(0);
      addRepository(root, newRelease);
      expect(root.mustRun(APT)).not.toMatch(/warning|NO_PUBKEY|not signed/i);
      expect(root.mustRun("formsvc version")).toBe(`${VERSION}\n`);
      expect(
        root.mustRun(
          "ls /etc/systemd/system/sockets.target.wants /etc/systemd/system/multi-user.target.wants",
        ),
      ).toMatch(/formsvc\.service[^]*formsvc\.socket|formsvc\.socket[^]*formsvc\.service/);
      // The service's folder, which systemd makes; root's commands find the database there without a flag.
      root.mustRun("mkdir -m 700 /var/lib/formsvc");
      const keys = root.mustRun("formsvc endpoint create --name A --schema - --env", "{}");
      expect(existsSync(join(root.path, "var/lib/formsvc/formsvc.db"))).toBe(true);
      const port = await freePort();
      await serveIn(root, `formsvc serve --port ${port}`, port);
      const key = /FORMSVC_SECRET_KEY=(\S+)/.exec(keys)?.[1] ?? "";
      const answer = await fetch(`http://127.0.0.1:${port}/submit`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: '{"name":"Ada"}',
      });
      expect(answer.status).toBe(200);
      expect(root.mustRun("formsvc submission list --json")).toContain('"sub_');
    },
  );

  test(
    "the package is upgraded under load without a refused post, and taken away without a lost one",
    { timeout: INSTALL_MS },
    async ({ skip }) => {
      const source = roots.get(system) ?? skip("no root");
      const root = copyDebian(source);
      addRepository(root, oldRelease);
      root.mustRun(APT);
      expect(root.mustRun("formsvc version")).toBe(`${OLD_VERSION}\n`);
      root.mustRun("mkdir -m 700 /var/lib/formsvc");
      const keys = root.mustRun(
        "formsvc endpoint create --name A --schema - --env",
        '{"n":{"type":"number"}}',
      );
      root.write("etc/formsvc/formsvc.config.json", CHANGED_CONFIGURATION);
      const manager = await startManager(root);
      const target = { port: manager.port, key: /FORMSVC_SECRET_KEY=(\S+)/.exec(keys)?.[1] ?? "" };
      const poster = startPosting(target, 8, countUp());
      await until(() => poster.posts.length > 50);
      addRepository(root, newRelease);
      await manager.during("apt-get update && apt-get install -y --no-install-recommends formsvc");
      expect(root.mustRun("formsvc version")).toBe(`${VERSION}\n`);
      const before = poster.posts.length;
      await until(() => poster.posts.length > before + 50);
      await poster.stop();
      expect(poster.posts.filter(({ status }) => status !== 200)).toEqual([]);
      expect(manager.calls()).toContain("restart formsvc.service");
      expect(manager.calls()).not.toMatch(/restart formsvc\.socket|stop formsvc/);
      expect(readIn(root, "etc/formsvc/formsvc.config.json")).toBe(CHANGED_CONFIGURATION);

      await manager.during("apt-get remove -y formsvc");
      expect(manager.calls()).toMatch(/stop .*formsvc/);
      await manager.end();
      expect(root.run("formsvc version").status).toBe(127);
      const purged = root.mustRun("apt-get purge -y formsvc");
      expect(purged).toContain("the submissions are kept in /var/lib/formsvc");
      expect(root.run("ls /etc/formsvc").status).not.toBe(0);
      root.mustRun(APT);
      expect(purgeOnTerminal(root)).toContain("the submissions are kept in /var/lib/formsvc");
      const kept = join(root.path, "var/lib/formsvc/formsvc.db");
      const { readStored } = await import("../faults/stored.ts");
      expect(readStored(kept).ids).toHaveLength(poster.posts.length);
    },
  );
});

/** As a person does it, whom nothing asks: what needs an answer would wait for ever, and is ended. */
function purgeOnTerminal(root: DebianRoot): string {
  const purge = `chroot ${root.path} apt-get purge --yes formsvc`;
  const { status, stdout } = spawnSync("script", ["-qec", purge, "/dev/null"], {
    encoding: "utf8",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", TERM: "linux" },
    timeout: INSTALL_MS / 3,
  });
  return `${stdout}\n${status === 0 ? "" : `exit ${status}`}`;
}

/** Without limits, so that the load is not refused; it is the owner's, which an upgrade leaves as it is. */
const CHANGED_CONFIGURATION = JSON.stringify({
  database: { path: "/var/lib/formsvc/formsvc.db" },
  plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } },
  rateLimit: { secret: { max: null } },
});

const holder = fileURLToPath(new URL("../support/fake-systemd.py", import.meta.url));

/** What stands for systemd: it holds the socket and starts the service; a `systemctl` in the root asks it. */
async function startManager(root: DebianRoot) {
  mkdirSync(join(root.path, "run/systemd/system"), { recursive: true });
  root.write("usr/bin/systemctl", SYSTEMCTL, 0o755);
  writeFileSync(join(root.path, "run/calls"), "");
  const service = ["chroot", root.path, "/usr/bin/formsvc", "serve"];
  const child = spawn("python3", [holder, join(root.path, "run/notify"), ...service], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(async () => {
    child.stdin.end();
    await whenEnded(child);
  });
  let port = 0;
  let exits = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith("PORT ")) port = Number(line.slice(5));
    if (line.startsWith("EXITED ")) exits += 1;
  });
  const isReady = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true;
  await until(async () => port !== 0 && (await isReady()));
  const asked = join(root.path, "run/asked");
  return {
    port,
    calls: () => readFileSync(join(root.path, "run/calls"), "utf8"),
    /** Runs a command in the root and does what it asks of systemd meanwhile. */
    async during(command: string): Promise<void> {
      const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive" };
      const running = spawn("chroot", [root.path, "/bin/sh", "-c", command], {
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      let told = "";
      for (const stream of [running.stdout, running.stderr])
        stream.on("data", (part: Buffer) => (told += String(part)));
      const ended = whenEnded(running);
      const over = new AbortController();
      void ended.then(() => over.abort());
      while (!over.signal.aborted) {
        if (existsSync(asked)) {
          const exitsBefore = exits;
          child.stdin.write("restart\n");
          await until(() => exits > exitsBefore);
          await until(isReady);
          rmSync(asked);
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      if ((await ended) !== 0) throw new Error(`${command}:\n${told}`);
    },
    async end(): Promise<void> {
      child.stdin.end();
      await whenEnded(child);
    },
  };
}

const SYSTEMCTL = `#!/bin/sh
echo "$@" | sed 's/--[a-z-]* //g' >>/run/calls
case "$*" in
  *restart*formsvc.service*) : >/run/asked; while [ -e /run/asked ]; do sleep 0.02; done ;;
  *is-enabled*) echo enabled ;;
esac
`;
