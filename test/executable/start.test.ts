import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { emptyMachine, type OperatorMachine } from "../support/operator-machine.ts";
import { executable } from "../support/program.ts";

const hasStrace = spawnSync("strace", ["--version"]).status === 0;
if (!hasStrace) process.stderr.write("NOT TESTED: starts that are killed (apt-get install strace)\n");
const mayUnmount = spawnSync("unshare", ["-m", "umount", "-l", "/proc"]).status === 0;
if (!mayUnmount) process.stderr.write("NOT TESTED: a start without /proc (run the tests as root)\n");

test("NODE_OPTIONS in the environment does not make the executable load a script", async () => {
  const machine = emptyMachine();
  const script = machine.write(
    "planted.cjs",
    `require("node:fs").writeFileSync(${JSON.stringify(machine.path("ran"))}, "");`,
  );
  const NODE_OPTIONS = `--require=${script}`;
  expect((await machine.run(["version"], { env: { NODE_OPTIONS } })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await machine.run(["endpoint", "list"], { env: { NODE_OPTIONS } })).code).toBe(5);
  expect(existsSync(machine.path("ran"))).toBe(false);
  spawnSync(process.execPath, ["--eval", ""], { env: { NODE_OPTIONS } });
  expect(existsSync(machine.path("ran"))).toBe(true);
});

test.skipIf(!hasStrace)(
  "a start that is killed while it loads its native parts leaves nothing behind",
  async () => {
    const machine = emptyMachine();
    await machine.createEndpoint();
    const temporary = machine.path("temporary");
    mkdirSync(temporary);
    const start = (...options: string[]) =>
      spawnSync("strace", ["-e", "trace=openat", ...options, executable, "doctor"], {
        cwd: machine.folder,
        env: { TMPDIR: temporary },
      });
    start("-o", machine.path("calls"));
    const calls = readFileSync(machine.path("calls"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("openat("));
    const loading = calls.flatMap((call, index) =>
      /\/temporary|\/proc\/self\/fd\//.test(call) ? [index + 1] : [],
    );
    expect(loading.length).toBeGreaterThan(0);
    for (const call of loading) {
      const killed = start("-o", "/dev/null", "-e", `inject=openat:signal=SIGKILL:when=${call}`);
      expect(killed.signal).toBe("SIGKILL");
    }
    expect(readdirSync(temporary)).toEqual([]);
  },
);

test.skipIf(!mayUnmount)(
  "if a library cannot be loaded from a file without a name, folders of earlier killed starts are removed",
  async () => {
    const machine = emptyMachine();
    await machine.createEndpoint();
    const temporary = machine.path("temporary");
    for (const name of ["formsvc-addon-old", "formsvc-addon-new", "formsvc-other"])
      mkdirSync(`${temporary}/${name}`, { recursive: true });
    for (const name of ["formsvc-addon-old", "formsvc-other"]) utimesSync(`${temporary}/${name}`, 1, 1);
    const ran = spawnSync(
      "unshare",
      ["-m", "sh", "-c", 'umount -l /proc && exec "$0" endpoint list', executable],
      { cwd: machine.folder, env: { TMPDIR: temporary, PATH: process.env["PATH"] } },
    );
    expect(ran.status).toBe(0);
    expect(readdirSync(temporary).sort()).toEqual(["formsvc-addon-new", "formsvc-other"]);
  },
);

/**
 * Runs a command where nothing that is written into a folder can be executed, the one that it works in included.
 *
 * @param machine one on a disk: it makes `/dev/shm` another folder.
 */
function runWithoutFolders(machine: OperatorMachine, shell: string, args: readonly string[]) {
  const noexec = "mount -t tmpfs -o noexec,mode=1777 none";
  const folder = machine.path("noexec");
  mkdirSync(folder, { recursive: true });
  return spawnSync(
    "unshare",
    [
      "-m",
      "sh",
      "-c",
      `${noexec} /dev/shm && ${noexec} ${folder} && cd ${folder} && ${shell}`,
      executable,
      ...args,
    ],
    { env: { TMPDIR: folder, PATH: process.env["PATH"] }, encoding: "utf8" },
  );
}

test.skipIf(!mayUnmount)(
  "the native parts load if every folder is mounted noexec, and nothing is said about how",
  () => {
    const ran = runWithoutFolders(emptyMachine(tmpdir()), 'exec "$0" "$@"', [
      "account",
      "create",
      "ada@example.org",
    ]);
    expect(ran).toMatchObject({ status: 0 });
    expect(ran.stderr).not.toContain("Warning");
  },
);

test.skipIf(!mayUnmount || !hasStrace)(
  "if the native parts cannot be loaded from anywhere, one sentence says what to set and what was tried",
  () => {
    const refuse = 'exec strace -f -o /dev/null -e inject=memfd_create:error=EACCES "$0" "$@"';
    const machine = emptyMachine(tmpdir());
    const plain = runWithoutFolders(machine, refuse, ["account", "create", "ada@example.org"]);
    expect(plain.status).toBe(1);
    const lines = plain.stderr
      .trimEnd()
      .split("\n")
      .filter((line) => !line.includes("new database"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^formsvc: cannot unpack \S+\.node; set TMPDIR to a folder of your own/);
    expect(lines[0]).toContain("memory: the system makes no file in memory");
    expect(lines[0]).toContain("/dev/shm: ");
    const json = runWithoutFolders(machine, refuse, ["account", "create", "ada@example.org", "--json"]);
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: "failed",
      message: expect.stringMatching(/^cannot unpack \S+\.node; set TMPDIR/) as unknown,
    });
  },
);

test.skipIf(!mayUnmount)(
  "without files that have no name, a folder of another user and one that others may write to are not used",
  () => {
    const machine = emptyMachine(tmpdir());
    const foreign = machine.path("foreign");
    mkdirSync(foreign, { mode: 0o700 });
    chownSync(foreign, 65_534, 65_534);
    const open = machine.path("open");
    mkdirSync(open);
    const shell = `chmod 777 ${open} && umount -l /proc && TMPDIR=${foreign} XDG_RUNTIME_DIR=${open} exec "$0" "$@"`;
    const ran = runWithoutFolders(machine, shell, ["account", "create", "ada@example.org"]);
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain(`${foreign}: the folder belongs to another user (uid 65534)`);
    expect(ran.stderr).toContain(`${open}: other users may write to the folder`);
    expect([...readdirSync(foreign), ...readdirSync(open)]).toEqual([]);
  },
);
