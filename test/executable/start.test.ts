import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { executable, makeWorkplace } from "./workplace.ts";

const hasStrace = spawnSync("strace", ["--version"]).status === 0;
if (!hasStrace) process.stderr.write("NOT TESTED: starts that are killed (apt-get install strace)\n");
const mayUnmount = spawnSync("unshare", ["-m", "umount", "-l", "/proc"]).status === 0;
if (!mayUnmount) process.stderr.write("NOT TESTED: a start without /proc (run the tests as root)\n");

test("NODE_OPTIONS in the environment does not make the executable load a script", async () => {
  const place = makeWorkplace();
  const script = place.write(
    "planted.cjs",
    `require("node:fs").writeFileSync(${JSON.stringify(place.path("ran"))}, "");`,
  );
  const NODE_OPTIONS = `--require=${script}`;
  expect((await place.run(["version"], { env: { NODE_OPTIONS } })).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await place.run(["endpoint", "list"], { env: { NODE_OPTIONS } })).code).toBe(5);
  expect(existsSync(place.path("ran"))).toBe(false);
  spawnSync(process.execPath, ["--eval", ""], { env: { NODE_OPTIONS } });
  expect(existsSync(place.path("ran"))).toBe(true);
});

test.skipIf(!hasStrace)(
  "a start that is killed while it loads its native parts leaves nothing behind",
  async () => {
    const place = makeWorkplace();
    await place.createEndpoint();
    const temporary = place.path("temporary");
    mkdirSync(temporary);
    const start = (...options: string[]) =>
      spawnSync("strace", ["-e", "trace=openat", ...options, executable, "doctor"], {
        cwd: place.folder,
        env: { TMPDIR: temporary },
      });
    start("-o", place.path("calls"));
    const calls = readFileSync(place.path("calls"), "utf8")
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
  "where a library cannot be loaded from a file without a name, folders of earlier killed starts are removed",
  async () => {
    const place = makeWorkplace();
    await place.createEndpoint();
    const temporary = place.path("temporary");
    for (const name of ["formsvc-addon-old", "formsvc-addon-new", "formsvc-other"])
      mkdirSync(`${temporary}/${name}`, { recursive: true });
    for (const name of ["formsvc-addon-old", "formsvc-other"]) utimesSync(`${temporary}/${name}`, 1, 1);
    const ran = spawnSync(
      "unshare",
      ["-m", "sh", "-c", 'umount -l /proc && exec "$0" endpoint list', executable],
      { cwd: place.folder, env: { TMPDIR: temporary, PATH: process.env["PATH"] } },
    );
    expect(ran.status).toBe(0);
    expect(readdirSync(temporary).sort()).toEqual(["formsvc-addon-new", "formsvc-other"]);
  },
);
