import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { dashboardAddress } from "../../src/config/dashboard-address.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

const ANA = "ana@example.org";
const BEN = "ben@example.org";

async function twoAccounts(settings: Record<string, unknown> = {}): Promise<OperatorMachine> {
  const machine = operatorMachine(settings);
  for (const email of [ANA, BEN]) await machine.mustRun(["account", "create", email]);
  return machine;
}

/** What a sign-in writes. */
function addPassword(machine: OperatorMachine, email: string): void {
  const connection = machine.open();
  connection
    .prepare("INSERT INTO credential SELECT id, 'hash', x'00', 7, 1 FROM account WHERE email = ?")
    .run(email);
  connection
    .prepare(
      `INSERT INTO session SELECT 'ses_' || number, id, x'00', unixepoch() * 1000, unixepoch() * 1000, 'Fire' || char(27) || 'fox', NULL, NULL
       FROM account, (SELECT '1' AS number UNION SELECT '2') WHERE email = ?`,
    )
    .run(email);
}

/** What was recorded since both accounts were made. */
function actions(machine: OperatorMachine): unknown[] {
  const events =
    "SELECT action || ' ' || subject FROM audit_event WHERE action <> 'account.create' ORDER BY id";
  return machine.open().prepare(events).pluck().all();
}

test("sign-in-link prints a link with a token that the database holds as a hash, for 30 minutes", async () => {
  const machine = await twoAccounts();
  const ran = await machine.mustRun(["account", "sign-in-link", ANA]);
  expect(ran.stdout).toMatch(/^http:\/\/127\.0\.0\.1:8787\/dashboard\/sign-in#[\w-]{32}\n$/);
  expect(ran.stderr).toContain(`sets the password of ${ANA}: works once, until `);
  const made = await machine.json<{ url: string; expires_at: string; account: object }>([
    "account",
    "sign-in-link",
    ANA,
  ]);
  expect(made.account).toMatchObject({ email: ANA, is_operator: true });
  const token = made.url.split("#")[1] ?? "";
  expect(token).not.toBe(ran.stdout.trim().split("#")[1]);
  const rows = machine.open().prepare("SELECT expires_at, hex(token_hash) AS hash FROM sign_in_link").all();
  expect(rows).toHaveLength(1);
  const [{ expires_at: expiresAt }] = rows as [{ expires_at: number }];
  expect(new Date(expiresAt).toISOString()).toBe(made.expires_at);
  expect(expiresAt - Date.now()).toBeGreaterThan(25 * MINUTE_MS);
  expect(actions(machine)).toEqual([`account.sign-in-link ${ANA}`, `account.sign-in-link ${ANA}`]);
  for (const file of readdirSync(machine.folder))
    expect(readFileSync(machine.path(file)).includes(token), file).toBe(false);
});

test("sign-in-link makes the first account if there is none, with the database if that is missing too", async () => {
  const machine = operatorMachine();
  for (const wrong of ["ana", "acct_01h455vb4pex5vsknk084sn02q"])
    expect([wrong, (await machine.run(["account", "sign-in-link", wrong])).code]).not.toEqual([wrong, 0]);
  // A refusal leaves no database.
  expect(existsSync(machine.database)).toBe(false);
  const ran = await machine.mustRun(["account", "sign-in-link", ANA]);
  expect(ran.stdout).toMatch(/\/dashboard\/sign-in#[\w-]{32}\n$/);
  expect(ran.stderr).toContain(`made the account ${ANA}`);
  const { data } = await machine.json<{ data: object[] }>(["account", "list"]);
  expect(data).toMatchObject([{ email: ANA, is_operator: true }]);
  const made = machine
    .open()
    .prepare("SELECT action || ' ' || subject FROM audit_event ORDER BY id")
    .pluck()
    .all();
  expect(made).toEqual([`account.create ${ANA}`, `account.sign-in-link ${ANA}`]);
  expect((await machine.run(["account", "sign-in-link", BEN])).code).toBe(3);
});

test("the link's address is the one that a browser reaches", async () => {
  const address = (server: object, dashboard: object = {}) =>
    dashboardAddress({
      server: { ...defaultConfig.server, ...server },
      dashboard: { ...defaultConfig.dashboard, ...dashboard },
    });
  expect(address({ host: "0.0.0.0", port: 80 })).toBe("http://127.0.0.1:80");
  expect(address({ host: "::" })).toBe("http://[::1]:8787");
  expect(address({ host: "fd00::1" })).toBe("http://[fd00::1]:8787");
  expect(address({ baseUrl: "https://forms.example.com" })).toBe("https://forms.example.com");
  expect(address({ baseUrl: "https://forms.example.com" }, { listen: "[::1]:8789" })).toBe(
    "http://[::1]:8789",
  );
  const machine = await twoAccounts({ server: { baseUrl: "https://forms.example.com" } });
  const print = async (...options: string[]) =>
    (await machine.mustRun(["account", "sign-in-link", ANA, ...options])).stdout;
  expect(await print()).toMatch(/^https:\/\/forms\.example\.com\/dashboard\/sign-in#/);
  expect(await print("--base-url", "http://localhost:9000/")).toMatch(
    /^http:\/\/localhost:9000\/dashboard\/sign-in#/,
  );
});

test("what cannot be done says why, with its exit code, and changes nothing", async () => {
  const machine = await twoAccounts();
  const cases: [args: string[], code: number, message: RegExp][] = [
    [["sign-in-link", "eve@example.org"], 3, /no account eve@example\.org; see: formsvc account list/],
    [["sign-in-link", ANA, "--base-url", "forms.example.com"], 2, /expected an address like https:/],
    [["sign-in-link", ANA, "--base-url", "https://a.example/b"], 2, /expected an address like https:/],
    [["set", ANA], 2, /give something to set: --operator or --no-operator/],
    [["set", "eve@example.org", "--operator"], 3, /no account eve@example\.org/],
    [
      ["set", ANA, "--no-operator"],
      1,
      /ana@example\.org is the only operator; make another one first: formsvc account/,
    ],
    [["set", BEN, "--no-operator"], 0, /ben@example\.org is no operator/],
    [["reset-totp", ANA], 1, /ana@example\.org has no second factor/],
    [["reset-totp", "eve@example.org"], 3, /no account/],
    [["sessions", "eve@example.org"], 3, /no account/],
    [["end-sessions", "eve@example.org"], 3, /no account/],
    [
      ["end-sessions", ANA],
      2,
      /nobody can be asked here, so give --yes: Sign ana@example\.org out in every browser\?/,
    ],
    [["end-sessions", ANA, "--session", "ses_1"], 3, /ana@example\.org has no session ses_1/],
  ];
  for (const [args, code, message] of cases) {
    const ran = await machine.run(["account", ...args]);
    expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code, stdout: "" });
    expect(ran.stderr).toMatch(message);
  }
  expect(actions(machine)).toEqual([`account.unmake-operator ${BEN}`]);
});

test("an operator is made and unmade, as long as one stays", async () => {
  const machine = await twoAccounts();
  const operators = async () => {
    const listed = await machine.json<{ data: { email: string; is_operator: boolean }[] }>([
      "account",
      "list",
    ]);
    return listed.data.filter((account) => account.is_operator).map(({ email }) => email);
  };
  expect(await operators()).toEqual([ANA]);
  const made = await machine.json(["account", "set", BEN, "--operator"]);
  expect(made).toMatchObject({ account: { email: BEN, is_operator: true } });
  await machine.mustRun(["account", "set", ANA, "--no-operator"]);
  expect(await operators()).toEqual([BEN]);
  expect((await machine.mustRun(["account", "list"])).stdout).toMatch(/EMAIL +OPERATOR/);
});

test("sessions are listed and ended; the text of a browser cannot steer the terminal", async () => {
  const machine = await twoAccounts();
  addPassword(machine, ANA);
  const listed = await machine.mustRun(["account", "sessions", ANA]);
  expect(listed.stdout).toMatch(/^ID +SIGNED IN +LAST USED +ADDRESS +BROWSER/);
  expect(listed.stdout).toContain("Firefox");
  const { data } = await machine.json<{ data: { id: string }[] }>(["account", "sessions", ANA]);
  expect(data).toHaveLength(2);
  expect(data[0]).toMatchObject({ user_agent: "Fire\u001bfox", ip_address: null });
  expect(await machine.json(["account", "end-sessions", BEN, "--yes"])).toEqual({ ended: 0 });
  const [{ id } = { id: "" }] = data;
  const notHers = await machine.run(["account", "end-sessions", BEN, "--session", id, "--yes"]);
  expect([notHers.code, notHers.stderr]).toEqual([3, expect.stringContaining(`has no session ${id}`)]);
  const asked = await machine.run(["account", "end-sessions", ANA, "--session", id]);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("give --yes")]);
  expect(await machine.json(["account", "end-sessions", ANA, "--session", id, "--yes"])).toEqual({
    ended: 1,
  });
  expect(await machine.json(["account", "end-sessions", ANA, "--yes"])).toEqual({ ended: 1 });
  expect((await machine.mustRun(["account", "sessions", ANA])).stderr).toContain("nobody is signed in");
  expect(actions(machine)).toEqual([`account.end-sessions ${ANA}`, `account.end-sessions ${ANA}`]);
});

test("reset-totp removes the second factor with its codes and ends the sessions; the password stays", async () => {
  const machine = await twoAccounts();
  addPassword(machine, ANA);
  machine.open().exec("INSERT INTO recovery_code SELECT account_id, x'01' FROM credential");
  const ran = await machine.mustRun(["account", "reset-totp", ANA]);
  expect(ran.stderr).toContain(`${ANA} signs in with the password alone now`);
  const count = (sql: string) => machine.open().prepare(sql).pluck().get();
  expect(count("SELECT password_hash || ifnull(totp_secret, '') FROM credential")).toBe("hash");
  expect(count("SELECT (SELECT count(*) FROM recovery_code) + (SELECT count(*) FROM session)")).toBe(0);
});

test("serve tells how to sign in while nobody can, without a token, and not any more when somebody can", async () => {
  const machine = await twoAccounts();
  const told = async () => {
    const server = await machine.serve();
    await server.stop();
    return server.lines.filter(({ event }) => event === "dashboard.no-password").map(({ msg }) => msg);
  };
  expect(await told()).toEqual([
    "nobody can sign in to the dashboard yet; make a link with: formsvc account sign-in-link EMAIL",
  ]);
  machine.configure({ dashboard: { enabled: false } });
  expect(await told()).toEqual([]);
  machine.configure({});
  addPassword(machine, ANA);
  expect(await told()).toEqual([]);
});
