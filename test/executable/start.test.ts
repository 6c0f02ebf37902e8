import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
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
