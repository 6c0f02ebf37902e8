import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { collect, whenEnded } from "../support/program.ts";
import { PATIENCE_MS } from "../support/until.ts";
import type { DebianRoot } from "./debian-root.ts";

/**
 * In namespaces of its own: the root becomes the machine's root, and systemd its first process, with the groups of processes below
 * one of its own. Only the network is this machine's, so that a test can post. What is of the whole kernel cannot be written.
 */
const BEGIN = `
  set -e
  mkdir -p "$2"
  mount -t cgroup2 cgroup2 "$2"
  mkdir "$2/$3"
  echo 0 >"$2/$3/cgroup.procs"
  exec unshare --cgroup --mount --pid --ipc --uts --fork --kill-child --propagation private sh -ec '
    # Only what is mounted can become the root.
    mount --bind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    for each in sys sysrq-trigger; do mount --bind proc/$each proc/$each && mount -o remount,bind,ro proc/$each; done
    mount -t sysfs -o ro sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs tmpfs run
    mount -t tmpfs -o mode=755 tmpfs dev
    for each in null zero full random urandom tty; do : >dev/$each && mount --bind /dev/$each dev/$each; done
    mkdir dev/shm dev/pts old
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    pivot_root . old
    umount --lazy /old
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=test /lib/systemd/systemd --system --show-status=no
  ' sh "$1"
`;

/** The groups are empty as soon as the last process that ran in them is gone. */
const CLEAN = `
  mount -t cgroup2 cgroup2 "$1"
  for each in $(seq 300); do
    find "$1/$2" -depth -type d -exec rmdir {} + 2>/dev/null
    [ -e "$1/$2" ] || exit 0
    sleep 0.1
  done
`;

const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  TERM: "dumb",
  DEBIAN_FRONTEND: "noninteractive",
};

/** A root whose commands run beside systemd. */
export interface BootedRoot extends DebianRoot {
  /** The words of `nsenter` that enter it. */
  readonly enter: readonly string[];
  /** Runs a script while this process goes on. @throws Error unless the script ends with 0. */
  finish(script: string): Promise<string>;
}

/**
 * Boots systemd in a root that has it. It ends with the test.
 *
 * @returns the reason if this machine does not let it run.
 */
export async function bootSystemd(root: DebianRoot): Promise<BootedRoot | string> {
  const name = basename(dirname(root.path));
  const groups = join(dirname(root.path), "groups");
  mkdirSync(groups);
  const words = ["--mount", "--propagation", "private", "sh", "-c", BEGIN, "sh", root.path, groups, name];
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "unshare", ...words], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let told = "";
  child.stderr.on("data", (part: Buffer) => (told = (told + String(part)).slice(-4000)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await whenEnded(child);
    spawnSync("unshare", ["--mount", "sh", "-c", CLEAN, "sh", groups, name]);
  });
  const enter = (): string[] => {
    const spaces = ["--mount", "--pid", "--ipc", "--uts", "--cgroup"];
    return ["--target", childOf(child.pid ?? 0), ...spaces];
  };
  const run: DebianRoot["run"] = (script, input = "") => {
    return spawnSync("nsenter", [...enter(), "/bin/sh", "-c", script], {
      encoding: "utf8",
      input,
      env: ENVIRONMENT,
    });
  };
  const deadline = performance.now() + 2 * PATIENCE_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    // Some services of a real machine fail in such a root: it is degraded then.
    if (/running|degraded/.test(run("systemctl is-system-running").stdout))
      return bootedRoot(root, run, enter());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return `systemd ${child.exitCode === null ? "does not start" : `ended with ${child.exitCode}`}: ${told.trim()}`;
}

function bootedRoot(root: DebianRoot, run: DebianRoot["run"], enter: readonly string[]): BootedRoot {
  const check = (script: string, status: number | null, told: string): string => {
    if (status !== 0) throw new Error(`${script}: exit ${status}\n${told}`);
    return told;
  };
  return {
    ...root,
    enter,
    run,
    mustRun(script, input) {
      const { status, stdout, stderr } = run(script, input);
      return check(script, status, `${stdout}${stderr}`);
    },
    async finish(script) {
      const child = spawn("nsenter", [...enter, "/bin/sh", "-c", script], {
        env: ENVIRONMENT,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const { code, stdout, stderr } = await collect(child);
      return check(script, code, `${stdout}${stderr}`);
    },
  };
}

/** The one process that it started; 0, which is nobody's, until there is one. */
function childOf(pid: number): string {
  const file = `/proc/${pid}/task/${pid}/children`;
  return (existsSync(file) ? readFileSync(file, "utf8").trim().split(" ")[0] : "") || "0";
}
