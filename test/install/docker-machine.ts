import { type ChildProcess, spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { whenEnded } from "../support/program.ts";
import { PATIENCE_MS } from "../support/until.ts";
import { newRelease, oldRelease } from "./made-release.ts";

/** A machine of its own with Docker: its processes, network and files are nobody else's. */
export interface DockerMachine {
  /** Runs a script in the reader's folder, with a terminal as a person has one. */
  run(script: string): SpawnSyncReturns<string>;
  /** What it printed. @throws Error unless the script ends with 0. */
  mustRun(script: string): string;
  /** Starts a script in the reader's folder, without a terminal; it ends with the machine at the latest. */
  start(script: string): ChildProcess;
  /** Makes a file in the reader's folder. */
  write(name: string, content: string): void;
  end(): Promise<void>;
}

/** It only ends a command that hangs. */
const COMMAND_MS = 5 * PATIENCE_MS;

/**
 * In namespaces of its own: a layer over the prepared root becomes the machine's root, and the rest of this machine is out of its
 * reach. The files of Docker and Podman are in folders that are none of the layer's, because layers over layers are refused.
 */
const BEGIN = `
  set -e
  ip link set lo up
  cd "$1"
  mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" root
  cd root
  mkdir -p old site var/lib/docker var/lib/containers srv/new srv/old
  mount --bind "$3" srv/new
  mount --bind "$4" srv/old
  mount --bind "$1/docker" var/lib/docker
  mount --bind "$1/podman" var/lib/containers
  mount --bind "$1/site" site
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount --rbind /sys/fs/cgroup sys/fs/cgroup
  mount --rbind /dev dev
  mount -t tmpfs tmpfs run
  pivot_root . old
  umount --lazy /old
  exec chroot / /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \\
    dockerd --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$5"
`;

/**
 * Starts Docker in a root that `prepareDocker` made. It ends with this process at the latest.
 *
 * @returns the reason if this machine does not let Docker run.
 */
export async function startDocker(source: string): Promise<DockerMachine | string> {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-docker-"));
  for (const name of ["root", "upper", "work", "docker", "podman", "site"]) mkdirSync(join(folder, name));
  const words = [folder, source, newRelease, oldRelease, basename(folder)];
  const isolated = ["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"];
  const begin = ["--propagation", "private", "sh", "-c", BEGIN, "sh", ...words];
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "unshare", ...isolated, ...begin], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let told = "";
  child.stderr.on("data", (part: Buffer) => (told = (told + String(part)).slice(-4000)));
  const machine = machineOf(child, folder);
  const deadline = performance.now() + 2 * PATIENCE_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    if (machine.run("docker info").status === 0) return machine;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const reason = child.exitCode === null ? "does not answer" : `ended with ${child.exitCode}`;
  await machine.end();
  return `Docker ${reason}: ${told.trim()}`;
}

/** What a reader's terminal on that machine does, in the folder with the compose files. */
function machineOf(child: ChildProcess, folder: string): DockerMachine {
  const env = { PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", TERM: "dumb" };
  const inside = (...words: readonly string[]): string[] => {
    const enter = ["-t", childOf(child.pid ?? 0), "--mount", "--net", "--pid", "--ipc", "--uts"];
    return [...enter, "sh", "-c", 'cd /site && exec "$@"', "sh", ...words];
  };
  const run: DockerMachine["run"] = (script) =>
    spawnSync("nsenter", inside("script", "-qec", script, "/dev/null"), {
      encoding: "utf8",
      env,
      stdio: "pipe",
      timeout: COMMAND_MS,
      killSignal: "SIGKILL",
    });
  return {
    run,
    mustRun(script) {
      const ran = run(script);
      if (ran.status !== 0) throw new Error(`${script}: exit ${ran.status}\n${ran.stdout}${ran.stderr}`);
      return ran.stdout.replaceAll("\r\n", "\n");
    },
    start: (script) =>
      spawn("nsenter", inside("sh", "-c", script), { env, stdio: ["pipe", "pipe", "ignore"] }),
    write: (name, content) => writeFileSync(join(folder, "site", name), content),
    async end() {
      // With it ends everything in its namespaces: Docker, the containers, the mounts.
      child.kill("SIGKILL");
      await whenEnded(child);
      rmSync(folder, { recursive: true, force: true });
      // Each kind of resource has a tree of groups; what ran in them has ended.
      const groups = `find /sys/fs/cgroup -depth -type d -path '*/${basename(folder)}*' -exec rmdir {} +`;
      spawnSync("sh", ["-c", groups]);
    },
  };
}

/** The one process that it started; 0, which is nobody's, until there is one. */
function childOf(pid: number): string {
  const file = `/proc/${pid}/task/${pid}/children`;
  return (existsSync(file) ? readFileSync(file, "utf8").trim().split(" ")[0] : "") || "0";
}
