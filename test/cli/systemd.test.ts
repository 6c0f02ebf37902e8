import { spawnSync } from "node:child_process";
import { constants, copyFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { hasPython, startBehindSocket } from "../support/passed-socket.ts";
import { storedIds } from "../support/posts.ts";
import { program } from "../support/program.ts";
import { until } from "../support/until.ts";

const has = (tool: string): boolean => spawnSync(tool, ["--version"]).error === undefined;

test.skipIf(!has("systemd-analyze"))(
  "systemd finds no fault with the printed units, and little exposure",
  async () => {
    const machine = operatorMachine();
    const [service, socket] = [machine.path("formsvc.service"), machine.path("formsvc.socket")];
    writeFileSync(service, (await machine.mustRun(["systemd"])).stdout);
    writeFileSync(socket, (await machine.mustRun(["systemd", "--socket", "127.0.0.1:8787"])).stdout);
    const verified = spawnSync("systemd-analyze", ["verify", service, socket], { encoding: "utf8" });
    expect([verified.status, verified.stderr]).toEqual([0, ""]);
    const security = spawnSync("systemd-analyze", ["security", "--offline=true", "--no-pager", service], {
      encoding: "utf8",
    });
    const exposure = Number(/exposure level for formsvc\.service: (\d+\.\d)/.exec(security.stdout)?.[1]);
    expect(exposure).toBeLessThanOrEqual(2);
  },
);

test.skipIf(!has("systemd-analyze"))(
  "a program or configuration whose path has blanks, % or $ stands in the unit as systemd reads it",
  async () => {
    const machine = operatorMachine();
    const [node, ...main] = program;
    const renamed = machine.path("no de%d$x");
    copyFileSync(node, renamed, constants.COPYFILE_FICLONE);
    const file = machine.path('my "conf" %d $x.json');
    const printed = spawnSync(renamed, [...main, "systemd", "--config", file], { encoding: "utf8" });
    const service = machine.path("formsvc.service");
    writeFileSync(service, printed.stdout);
    const verified = spawnSync("systemd-analyze", ["verify", service], { encoding: "utf8" });
    expect(verified.stderr).not.toContain("not executable");
    const read = machine.path('my \\"conf\\" %%d $$x.json');
    expect(printed.stdout).toContain(` serve --config "${read}"\n`);
  },
);

test("a start may take as long as carrying over a large database takes", async () => {
  const { stdout } = await operatorMachine().mustRun(["systemd"]);
  expect(stdout).toContain("\nTimeoutStartSec=infinity\n");
});

test("the service has a limit of memory, and is started again when it meets it", async () => {
  const { stdout } = await operatorMachine().mustRun(["systemd"]);
  expect(stdout).toMatch(/^MemoryMax=512M$/m);
  expect(stdout).toMatch(/^Restart=always$/m);
  expect(stdout).toMatch(/^StartLimitIntervalSec=0$/m);
});

test("no unit is printed with the password of an address, and the refusal says where the address belongs", async () => {
  const address = "postgresql://formsvc:SECRET@db.example/formsvc";
  const ran = await operatorMachine().run(["systemd", "--db", address]);
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain("as FORMSVC_DATABASE_URL into /etc/formsvc/environment");
  expect(ran.stderr).not.toContain("SECRET");
});

test("a socket unit is printed only for what systemd can listen on", async () => {
  const machine = operatorMachine();
  for (const address of ["8787", "127.0.0.1:8787", "[::1]:8787", "/run/formsvc.sock"]) {
    const { stdout } = await machine.mustRun(["systemd", "--socket", address]);
    expect(stdout).toContain(`\nListenStream=${address}\n`);
  }
  for (const address of [
    "",
    "nonsense",
    "127.0.0.1",
    "127.0.0.1:0",
    "1.2.3.4:65536",
    "::1:8787",
    "8787\nExecStart=x",
  ]) {
    const ran = await machine.run(["systemd", "--socket", address]);
    expect([address, ran.code, ran.stdout]).toEqual([address, 2, ""]);
    expect(ran.stderr).toContain("expected an address like 127.0.0.1:8787");
  }
});

test("with --json a unit and a completion script are each one JSON document", async () => {
  const machine = operatorMachine();
  for (const [args, member] of [
    [["systemd"], "unit"],
    [["systemd", "--socket", "8787"], "unit"],
    [["completion", "bash"], "script"],
  ] as const) {
    const plain = (await machine.mustRun(args)).stdout;
    const printed = (await machine.mustRun([...args, "--json"])).json() as Record<string, string>;
    expect(printed[member]?.trim()).toBe(plain.trim());
  }
});

/** A post on a connection of its own; its status, or the error that the connection ended with. */
function postOnce(port: number, key: string): Promise<{ status: number | string; id: string }> {
  return new Promise((resolve) => {
    const body = JSON.stringify({ name: "Ada", email: "ada@example.org" });
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": body.length,
    };
    const sent = request({ port, host: "127.0.0.1", path: "/submit", method: "POST", headers, agent: false });
    sent.on("error", (error) => resolve({ status: error.message, id: "" }));
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => {
        const { submission_id: id = "" } = JSON.parse(text) as { submission_id?: string };
        resolve({ status: response.statusCode ?? 0, id });
      });
    });
    sent.end(body);
  });
}

test.skipIf(!hasPython || !has("systemd-notify"))(
  "a restart under load with a socket from systemd loses no connection and refuses no post, and systemd is told each step",
  async () => {
    const machine = operatorMachine();
    const endpoint = await machine.createEndpoint();
    const systemd = await startBehindSocket(machine);
    await until(() => systemd.told("READY=1") === 1);

    const load = { goesOn: true };
    const answers: { status: number | string; id: string }[] = [];
    const senders = Array.from({ length: 4 }, async () => {
      while (load.goesOn) answers.push(await postOnce(systemd.port, endpoint.secret));
    });
    for (const round of [1, 2, 3]) {
      await until(() => answers.length > round * 100);
      expect(await systemd.restart()).toBe(0);
      await until(() => systemd.told("READY=1") === round + 1);
    }
    await until(() => systemd.told("WATCHDOG=1") > 0);
    load.goesOn = false;
    await Promise.all(senders);
    expect(await systemd.end()).toBe(0);

    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    await expect.poll(() => systemd.told("STOPPING=1")).toBe(4);
    const stored = storedIds(machine.database);
    expect(answers.filter(({ id }) => !stored.has(id))).toEqual([]);
    expect(stored.size).toBe(answers.length);
  },
);
