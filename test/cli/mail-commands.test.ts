import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { readMail } from "../support/read-mail.ts";
import { plainSettings, startMailServer, startScriptedServer } from "../support/smtp-servers.ts";

/** A machine whose configuration names a mail server on loopback. */
function machineFor(port: number, mail: Readonly<Record<string, unknown>> = {}) {
  const machine = operatorMachine();
  const { host, from } = plainSettings(port);
  machine.configure({ mail: { host, port, from, ...mail } });
  return machine;
}

test("mail check prints every step with the server's words, sends nothing, and needs no database", async () => {
  const server = await startScriptedServer({ EHLO: "250-scripted\r\n250 AUTH LOGIN PLAIN" });
  const machine = machineFor(server.port, { user: "forms", password: "a secret of ours" });
  const { code, stdout, stderr } = await machine.run(["mail", "check"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.replace(/\d+ ms/, "N ms")).toBe(
    [
      `connecting to 127.0.0.1, port ${server.port}, security none`,
      "connect  220 scripted",
      "connect  EHLO example.com: 250 scripted AUTH LOGIN PLAIN",
      "login    AUTH PLAIN: 235 welcome",
      "sender   MAIL FROM:<forms@example.com>: 250 sender fine",
      "sender   RSET: 250 forgotten",
      "ready: it takes e-mail from forms@example.com (N ms)",
      "",
    ].join("\n"),
  );
  expect(server.lines.filter((line) => /RCPT|DATA/.test(line))).toEqual([]);
  expect(await machine.json(["mail", "check"])).toMatchObject({
    ready: true,
    server: { host: "127.0.0.1", port: server.port, security: "none" },
    stage: "done",
    outcome: null,
    message: null,
    replies: [
      { stage: "connect", command: null, code: 220, text: "scripted" },
      { stage: "connect", command: "EHLO example.com", code: 250 },
      { stage: "login", command: "AUTH PLAIN", code: 235 },
      { stage: "sender", code: 250 },
      { stage: "sender", command: "RSET", code: 250 },
    ],
  });
});

test("a check that fails says at which step, what the server said, and what to do; exit code 1", async () => {
  const server = await startScriptedServer({
    EHLO: "250-scripted\r\n250 AUTH PLAIN",
    AUTH: "535 5.7.8 wrong \u001b[31m",
  });
  const machine = machineFor(server.port, { user: "forms", password: "a secret of ours" });
  const ran = await machine.run(["mail", "check"]);
  expect(ran.code).toBe(1);
  expect(ran.stdout).toContain("login    AUTH PLAIN: 535 5.7.8 wrong [31m\n");
  expect(ran.stderr).toContain(
    "failed at the step login. The mail server refused the login: 535 5.7.8 wrong [31m.",
  );
  expect(ran.stderr).toContain("Check mail.user and mail.password");
  expect(ran.stdout + ran.stderr).not.toContain("a secret of ours");
  const asJson = await machine.run(["mail", "check", "--json"]);
  expect(asJson.code).toBe(1);
  expect(asJson.json()).toMatchObject({ ready: false, stage: "login", outcome: "login_refused" });
  expect(asJson.stdout + asJson.stderr).not.toContain("a secret of ours");
});

test("mail test sends an e-mail that arrives, and ends by itself", async () => {
  const server = await startMailServer();
  const machine = machineFor(server.port);
  const { code, stdout, stderr } = await machine.run(["mail", "test", "Ada@Example.ORG"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("look among the spam") });
  expect(stdout).toMatch(/^delivered after \d+ ms\. The mail server took it: 250 queued\.\n$/);
  const [received] = server.received;
  expect(received).toMatchObject({ from: "forms@example.com", to: ["Ada@example.org"] });
  const mail = readMail(received?.raw ?? Buffer.alloc(0));
  expect(mail.header("subject")).toBe("A test of e-mail from formsvc");
  expect(mail.header("auto-submitted")).toBe("auto-generated");
  expect(await machine.json(["mail", "test", "ada@example.org"])).toMatchObject({
    message_id: expect.stringMatching(/^msg_/),
    to: "ada@example.org",
    stage: "done",
    outcome: "delivered",
    code: 250,
  });
});

test("an e-mail that is refused is told with the server's words; exit code 1", async () => {
  const server = await startScriptedServer({ RCPT: "550 5.1.1 unknown" });
  const machine = machineFor(server.port);
  const { code, stdout, stderr } = await machine.run(["mail", "test", "ada@example.org"]);
  expect(code).toBe(1);
  expect(stdout).toContain("The mail server refused the recipient: 550 5.1.1 unknown.");
  expect(stderr).toBe("formsvc: the e-mail was not sent: recipient_refused\n");
});

test("without a mail server, or with a wrong setting, nothing is connected to; exit code 2", async () => {
  const machine = operatorMachine();
  for (const args of [
    ["mail", "check"],
    ["mail", "test", "ada@example.org"],
  ]) {
    machine.configure({});
    const none = await machine.run(args);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("no mail server is configured")]);
    machine.configure({ mail: { host: "127.0.0.1" } });
    const unset = await machine.run(args);
    expect([unset.code, unset.stderr]).toEqual([
      2,
      expect.stringContaining("mail.from: e-mail needs a sender"),
    ]);
  }
  const wrong = await machine.run(["mail", "test", "Ada <ada@example.org>"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("expected one address")]);
});

test("config check reads the files that mail names, and config show keeps the password to itself", async () => {
  const machine = operatorMachine();
  const passwordFile = join(machine.folder, "password");
  const mail = { host: "127.0.0.1", from: "forms@example.com", user: "forms" };
  machine.configure({ mail: { ...mail, passwordFile } });
  const missing = await machine.run(["config", "check"]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("there is no such file")]);
  writeFileSync(passwordFile, "x", { mode: 0o600 });
  expect((await machine.run(["config", "check"])).code).toBe(0);
  machine.configure({ mail: { ...mail, password: "a secret of ours" } });
  const shown = await machine.run(["config", "show"]);
  expect(shown.json()).toMatchObject({ mail: { user: "forms", password: "[redacted]" } });
});

/** Tells on standard error each time that a part of nodemailer is loaded. */
const TELL_LOADS = `import { registerHooks } from "node:module";
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith("nodemailer")) process.stderr.write("LOADED " + specifier + "\\n");
    return next(specifier, context);
  },
});`;
const tellLoads = {
  fromSources: true,
  env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TELL_LOADS)}` },
};

test("the library that sends is loaded for an e-mail, and for nothing else", async () => {
  const server = await startMailServer();
  const machine = machineFor(server.port);
  const sent = await machine.run(["mail", "test", "ada@example.org"], tellLoads);
  expect(sent.stderr).toContain("LOADED nodemailer/lib/smtp-connection\n");
  expect(sent.stderr).not.toContain("dkim");
  for (const args of [["version"], ["config", "check"], ["init"], ["mail", "--help"]]) {
    const { stderr } = await machine.run(args, tellLoads);
    expect(stderr, args.join(" ")).not.toContain("LOADED");
  }
  const served = await machine.serve(tellLoads);
  await served.stop();
  expect(served.stderr()).not.toContain("LOADED");
});
