import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";

interface Made {
  readonly token: { readonly id: string; readonly scopes: string[]; readonly expires_at: string | null };
  readonly secret: string;
}

test("a token is made on an empty database, printed once, listed without its secret, and revoked", async () => {
  const machine = operatorMachine();
  const ran = await machine.mustRun(["token", "create", "--name", "laptop"]);
  const [, id, secret] = /^token {2}(tok_\w{26})\nsecret {2}(fat_\w{50})\n$/.exec(ran.stdout) ?? [];
  expect(ran.stderr).toContain("It is shown this once");
  const listed = await machine.mustRun(["token", "list"]);
  expect(listed.stdout).toContain(id);
  expect(listed.stdout).not.toContain(secret?.slice(16));
  expect((await machine.json<{ data: object[] }>(["token", "list"])).data).toMatchObject([
    { id, name: "laptop", account: "owner@localhost", state: "active", last_used_on: null },
  ]);
  for (const file of readdirSync(machine.folder))
    expect(readFileSync(machine.path(file)).includes(secret?.slice(16) ?? ""), file).toBe(false);
  expect((await machine.mustRun(["token", "revoke", id ?? ""])).stdout).toBe(`${id}\n`);
  expect((await machine.mustRun(["token", "list"])).stdout).toContain("revoked");
  const events = machine
    .open()
    .prepare("SELECT action, terminal_user FROM audit_event WHERE action LIKE 'token.%' ORDER BY id");
  const user = expect.any(String) as string;
  expect(events.all()).toEqual([
    { action: "token.create", terminal_user: user },
    { action: "token.revoke", terminal_user: user },
  ]);
});

test("flags choose the owner, the scopes and the end", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const create = (...flags: string[]): Promise<Made> =>
    machine.json<Made>(["token", "create", "--name", "ci", ...flags]);
  const scoped = await create(
    "--scope",
    "endpoints:write",
    "--scope",
    "submissions:read",
    "--expires",
    "never",
  );
  expect(scoped.token).toMatchObject({ scopes: ["submissions:read", "endpoints:write"], expires_at: null });
  const bound = await create("--endpoint", endpoint.id, "--expires", "12h");
  expect(bound.token).toMatchObject({ account: null, endpoint_id: endpoint.id });
  const hours = (Date.parse(bound.token.expires_at ?? "") - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(11);
  expect(hours).toBeLessThanOrEqual(12);
  expect((await create("--workspace", "owner")).token).toMatchObject({ account: null, endpoint_id: null });
});

test.each([
  [["token", "create"], 2, /--name/],
  [["token", "create", "--name", "x", "--scope", "everything"], 2, /there is no scope "everything"/],
  [["token", "create", "--name", "x", "--expires", "soon"], 2, /12h or 90d, or never/],
  [["token", "create", "--name", "x", "--expires", "0s"], 2, /from 1 second/],
  [["token", "create", "--name", "x", "--workspace", "owner", "--account", "owner@localhost"], 2, /name one/],
  [["token", "create", "--name", "x", "--workspace", "nowhere"], 3, /there is no workspace/],
  [["token", "revoke", "tok_01h455vb4pex5vsknk084sn02q"], 3, /there is no such token/],
  [["token", "revoke", "nonsense"], 3, /there is no such token/],
])("%j is refused with what is wrong, and makes no token", async (args, code, message) => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ran = await machine.run(args);
  expect(ran.code).toBe(code);
  expect(ran.stderr).toMatch(message);
  expect((await machine.json<{ data: object[] }>(["token", "list"])).data).toEqual([]);
});
