import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { version } from "../../src/foundation/version.ts";
import { emptyMachine } from "../support/operator-machine.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A folder with the signed list of a release, and the file of its public key. */
function makeRelease(released: string, namespace = "formsvc"): { folder: string; key: string } {
  const folder = temporaryFolder();
  const key = join(folder, "key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  const list = join(folder, "SHA256SUMS");
  writeFileSync(list, `${"0".repeat(64)}  formsvc-${released}-linux-x64.tar.gz\n`);
  execFileSync("ssh-keygen", ["-q", "-Y", "sign", "-n", namespace, "-f", key, list], { stdio: "ignore" });
  return { folder, key: `${key}.pub` };
}

test("upgrade --check tells from a signed release whether it is newer, over a folder and over HTTP, and makes no database", async () => {
  const machine = emptyMachine();
  for (const [latest, newer] of [
    ["99.0.0", true],
    ["0.0.1", false],
    [version, false],
  ] as const) {
    const { folder, key } = makeRelease(latest);
    const told = await machine.json(["upgrade", "--check", "--from", folder, "--key", key]);
    expect(told).toEqual({ current: version, latest, newer });
  }
  const { folder, key } = makeRelease("99.0.0");
  const server = createServer((request, response) =>
    response.end(readFileSync(join(folder, request.url ?? "/"))),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const ran = await machine.run(["upgrade", "--check", "--from", from, "--key", key]);
  expect(ran).toMatchObject({ code: 0, stdout: `99.0.0 is newer than this program, ${version}\n` });
  expect(existsSync(machine.database)).toBe(false);
});

test("upgrade --check ends with 1 for a wrong, missing or foreign signature and for a place that cannot be reached", async () => {
  const machine = emptyMachine();
  const good = makeRelease("99.0.0");
  const changed = makeRelease("99.0.0");
  writeFileSync(join(changed.folder, "SHA256SUMS"), `${"1".repeat(64)}  formsvc-99.0.0-linux-x64.tar.gz\n`);
  const otherPurpose = makeRelease("99.0.0", "file");
  const cut = makeRelease("99.0.0");
  const signature = readFileSync(join(cut.folder, "SHA256SUMS.sig"), "latin1");
  writeFileSync(join(cut.folder, "SHA256SUMS.sig"), signature.replace(/\n.*\n-----END/, "\n-----END"));
  const empty = join(good.folder, "empty");
  mkdirSync(empty);
  const cases: [from: string, key: string, said: string][] = [
    [good.folder, changed.key, "is wrong"],
    [changed.folder, changed.key, "is wrong"],
    [otherPurpose.folder, otherPurpose.key, "is wrong"],
    [cut.folder, cut.key, "is wrong"],
    [empty, good.key, "cannot read"],
    ["http://127.0.0.1:1", good.key, "cannot read"],
  ];
  for (const [from, key, said] of cases) {
    const ran = await machine.run(["upgrade", "--check", "--from", from, "--key", key]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(said);
  }
  const unchecked = await machine.run(["upgrade", "--from", good.folder]);
  expect(unchecked.code).toBe(2);
  expect(unchecked.stderr).toMatch(
    /upgrade --check\. To upgrade: run install\.sh .*, and restart the server/,
  );
  const unknown = await machine.run(["upgrade", "--check"]);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("give --from") as unknown });
});
