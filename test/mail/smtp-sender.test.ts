import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { SMTPServerAuthentication } from "smtp-server";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { classifyMail } from "../../src/mail/smtp/classify-mail.ts";
import type { SmtpExchange } from "../../src/mail/smtp/smtp-dialogue.ts";
import { createSmtpSender, type SmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import type { SmtpSettings } from "../../src/mail/smtp/smtp-settings.ts";
import { type Authority, createAuthority } from "../support/certificates.ts";
import { until } from "../support/until.ts";
import { plainSettings, startMailServer, startScriptedServer } from "../support/smtp-servers.ts";

function senderWith(settings: SmtpSettings): SmtpSender {
  const sender = createSmtpSender(settings);
  onTestFinished(() => sender.close());
  return sender;
}

const raw = Buffer.from("Subject: Hello\r\n\r\nHello\r\n");
const mail = { to: "ada@example.org", raw };

test("a mail that the server takes is done, with the server's words, and arrives as it was", async () => {
  const server = await startMailServer();
  const dots = Buffer.from("Subject: Dots\r\n\r\n.\r\n..two\r\n.\r\nlast\r\n");
  const sender = senderWith(plainSettings(server.port));
  const result = await sender.send({ to: "ada@example.org", raw: dots });
  expect(result).toMatchObject({ stage: "done", reply: { code: 250, text: "queued" }, problem: null });
  expect(classifyMail(result)).toEqual({
    outcome: "delivered",
    blame: "nobody",
    message: "The mail server took it: 250 queued.",
  });
  expect(server.received).toEqual([{ from: "forms@example.com", to: ["ada@example.org"], raw: dots }]);
});

test("the server is told the envelope sender, and the public name of this machine", async () => {
  const server = await startScriptedServer();
  const settings = { envelopeFrom: "returned@example.net", ownName: "forms.example.net" };
  await senderWith(plainSettings(server.port, settings)).send(mail);
  expect(server.lines).toContain("EHLO forms.example.net");
  expect(server.lines).toContain("MAIL FROM:<returned@example.net>");
  expect(server.lines).toContain("RCPT TO:<ada@example.org>");
});

test("what is no address never reaches the server", async () => {
  const server = await startScriptedServer();
  const sender = senderWith(plainSettings(server.port));
  for (const to of ["ada@example.org>\r\nRCPT TO:<eve@example.org", "ada@example.org,eve@example.org", ""]) {
    const result = await sender.send({ to, raw });
    expect(classifyMail(result)).toMatchObject({ outcome: "recipient_refused" });
  }
  expect(server.lines.filter((line) => line.includes("RCPT"))).toEqual([]);
});

test("an attempt never rejects, even by a defect, and the next one goes", async () => {
  const server = await startScriptedServer();
  const sender = senderWith(plainSettings(server.port, { connections: 1 }));
  const broken = await sender.send({ ...mail, raw: null as unknown as Buffer });
  expect(broken).toMatchObject({ stage: "data", problem: { code: "EUNKNOWN" } });
  expect(classifyMail(broken)).toMatchObject({ outcome: "unreachable", blame: "recipient" });
  expect((await sender.send(mail)).stage).toBe("done");
});

describe("login", () => {
  const login = { user: "forms", password: "correct horse" };
  const users = (methods: string[]) => ({
    authOptional: false,
    authMethods: methods,
    allowInsecureAuth: true,
    onAuth: (
      auth: SMTPServerAuthentication,
      _session: unknown,
      callback: (error: Error | null, response?: { user?: unknown }) => void,
    ) => {
      const isRight =
        auth.method === "CRAM-MD5" ? auth.validatePassword(login.password) : auth.password === login.password;
      if (auth.username === login.user && isRight) callback(null, { user: 1 });
      else callback(new Error("no such user"));
    },
  });

  test.each(["PLAIN", "LOGIN", "CRAM-MD5"])("by %s, and nobody is told the password", async (method) => {
    const server = await startMailServer(users([method, "XOAUTH2"]));
    const exchanges: SmtpExchange[] = [];
    const sender = senderWith(plainSettings(server.port, { login }));
    expect(await sender.check((exchange) => exchanges.push(exchange))).toMatchObject({ stage: "done" });
    expect(await sender.send(mail)).toMatchObject({ stage: "done" });
    const told = JSON.stringify(exchanges);
    expect(told).toContain(`AUTH ${method}`);
    for (const secret of [login.password, `\0${login.user}\0${login.password}`]) {
      expect(told).not.toContain(secret);
      expect(told).not.toContain(Buffer.from(secret).toString("base64"));
    }
    const wrong = senderWith(plainSettings(server.port, { login: { ...login, password: "wrong" } }));
    const refused = await wrong.send(mail);
    expect(classifyMail(refused)).toMatchObject({ outcome: "login_refused", blame: "destination" });
    expect(classifyMail(refused).message).toContain("Check mail.user and mail.password");
  });
});

describe("encryption", () => {
  let authority: Authority;
  const ordinary = getCACertificates("default");
  beforeAll(() => {
    authority = createAuthority();
    setDefaultCACertificates([...ordinary, authority.cert]);
  });
  afterAll(() => {
    setDefaultCACertificates(ordinary);
    authority.remove();
  });

  const ways = [
    ["starttls", { disabledCommands: [] as string[] }],
    ["tls", { secure: true }],
  ] as const;

  test.each(ways)("%s is used if the certificate is right", async (security, options) => {
    const server = await startMailServer({ ...options, ...authority.issue("IP:127.0.0.1") });
    const sender = senderWith(plainSettings(server.port, { security }));
    expect(await sender.send(mail)).toMatchObject({ stage: "done" });
    expect(server.received).toHaveLength(1);
  });

  test.each(ways)("%s refuses the certificate of another name", async (security, options) => {
    const server = await startMailServer({ ...options, ...authority.issue("DNS:other.example") });
    const result = await senderWith(plainSettings(server.port, { security })).send(mail);
    expect(result).toMatchObject({ stage: "tls", problem: { code: "ERR_TLS_CERT_ALTNAME_INVALID" } });
    expect(classifyMail(result)).toMatchObject({ outcome: "tls_failed", blame: "destination" });
    expect(classifyMail(result).message).toContain("set mail.host to a name of the certificate");
    expect(server.received).toEqual([]);
  });

  test.each(ways)("%s refuses a certificate that has expired", async (security, options) => {
    const server = await startMailServer({ ...options, ...authority.issue("IP:127.0.0.1", -1) });
    const result = await senderWith(plainSettings(server.port, { security })).send(mail);
    expect(classifyMail(result)).toMatchObject({ outcome: "tls_failed", blame: "destination" });
    expect(classifyMail(result).message).toContain("has expired");
  });

  test.each(ways)("%s refuses an authority that is not known", async (security, options) => {
    const unknown = createAuthority();
    onTestFinished(() => unknown.remove());
    const server = await startMailServer({ ...options, ...unknown.issue("IP:127.0.0.1") });
    const result = await senderWith(plainSettings(server.port, { security })).send(mail);
    expect(classifyMail(result)).toMatchObject({ outcome: "tls_failed", blame: "destination" });
    expect(classifyMail(result).message).toContain("NODE_EXTRA_CA_CERTS");
  });

  test("a server that offers no STARTTLS gets neither login nor mail", async () => {
    const server = await startScriptedServer();
    const login = { user: "forms", password: "secret" };
    const result = await senderWith(plainSettings(server.port, { security: "starttls", login })).send(mail);
    expect(classifyMail(result)).toMatchObject({ outcome: "tls_failed", blame: "destination" });
    expect(classifyMail(result).message).toContain("set mail.security to tls");
    expect(server.lines).toEqual(["EHLO forms.example.com", "STARTTLS"]);
  });
});

describe("connections", () => {
  test("one connection serves one mail after the other", async () => {
    const server = await startScriptedServer();
    const sender = senderWith(plainSettings(server.port));
    for (let count = 0; count < 5; count += 1) expect((await sender.send(mail)).stage).toBe("done");
    expect(server.connections()).toBe(1);
  });

  test("a connection is used for a hundred mails", async () => {
    const server = await startScriptedServer();
    const sender = senderWith(plainSettings(server.port));
    for (let count = 0; count < 101; count += 1) expect((await sender.send(mail)).stage).toBe("done");
    expect(server.connections()).toBe(2);
  });

  test("after a refusal the next mail has a new connection and goes", async () => {
    const server = await startScriptedServer({ RCPT: "550 unknown" });
    const sender = senderWith(plainSettings(server.port));
    expect((await sender.send(mail)).stage).toBe("recipient");
    server.play({});
    expect((await sender.send(mail)).stage).toBe("done");
    expect(server.connections()).toBe(2);
  });

  test.each([["drop"], ["421 idle for too long"]] as const)(
    "a kept connection that the server has given up (%s) costs no attempt",
    async (turn) => {
      const server = await startScriptedServer();
      const sender = senderWith(plainSettings(server.port));
      expect((await sender.send(mail)).stage).toBe("done");
      let isFirst = true;
      server.play({
        MAIL: (socket) => {
          if (!isFirst) return void socket.write("250 fine\r\n");
          isFirst = false;
          if (turn === "drop") socket.destroy();
          else socket.end(`${turn}\r\n`);
          return undefined;
        },
      });
      expect((await sender.send(mail)).stage).toBe("done");
      expect(server.connections()).toBe(2);
    },
  );

  test("a new connection that is dropped is an attempt that failed", async () => {
    const server = await startScriptedServer({ MAIL: "drop" });
    expect((await senderWith(plainSettings(server.port)).send(mail)).stage).toBe("sender");
    expect(server.connections()).toBe(1);
  });

  test("there are never more than the settings allow; the others wait", async () => {
    const server = await startScriptedServer();
    const sender = senderWith(plainSettings(server.port, { connections: 2 }));
    const results = await Promise.all(Array.from({ length: 20 }, () => sender.send(mail)));
    expect(results.map(({ stage }) => stage)).toEqual(Array.from({ length: 20 }, () => "done"));
    expect(server.connections()).toBe(2);
  });

  test("an idle connection is ended after some seconds, and the next mail has a new one", async () => {
    const server = await startScriptedServer();
    const sender = senderWith(plainSettings(server.port));
    await sender.send(mail);
    await until(() => server.lines.at(-1) === "QUIT");
    expect((await sender.send(mail)).stage).toBe("done");
    expect(server.connections()).toBe(2);
  });

  test("closing says goodbye on idle connections, and ends what is under way", async () => {
    const server = await startScriptedServer();
    const sender = createSmtpSender(plainSettings(server.port, { connections: 1 }));
    await sender.send(mail);
    await sender.close();
    await until(() => server.lines.at(-1) === "QUIT");

    const silent = await startScriptedServer({ content: "silent", RCPT: "250 fine" });
    const busy = createSmtpSender(plainSettings(silent.port, { connections: 1 }));
    const [first, second] = [busy.send(mail), busy.send(mail)];
    await until(() => silent.lines.at(-1) === ".");
    await busy.close();
    expect(classifyMail(await first)).toMatchObject({ outcome: "unsure" });
    expect(classifyMail(await second)).toMatchObject({ outcome: "interrupted", blame: "own" });
    expect(await busy.send(mail)).toMatchObject({ stage: "connect", problem: { code: "EINTERRUPTED" } });
  });
});

describe("a hostile server is left in time", () => {
  test.each([100_000, 10_000_000])("one that greets with %d characters", async (length) => {
    const banner = "x".repeat(length);
    const server = await startScriptedServer({ greeting: (socket) => void socket.write(banner) });
    const result = await senderWith(plainSettings(server.port)).send(mail);
    expect(result).toMatchObject({ stage: "connect", reply: null, problem: { code: "EPROTOCOL" } });
    expect(classifyMail(result).message).toContain("is no mail server");
  });

  test("one whose reply has lines without end", async () => {
    const lines = "250-more\r\n".repeat(1_000_000);
    const server = await startScriptedServer({ EHLO: (socket) => void socket.write(lines) });
    const result = await senderWith(plainSettings(server.port)).send(mail);
    expect(result).toMatchObject({ stage: "connect", problem: { code: "EPROTOCOL" } });
  });

  test.each(["greeting", "MAIL", "content"] as const)("one that speaks slowly (%s)", async (verb) => {
    const server = await startScriptedServer({
      [verb]: (socket: NodeJS.WritableStream) => {
        const timer = setInterval(() => socket.write("2"), 20);
        socket.once("close", () => clearInterval(timer));
      },
    });
    const result = await senderWith(plainSettings(server.port, { timeoutMs: 200 })).send(mail);
    expect(result).toMatchObject({ reply: null, problem: { code: "EDEADLINE" } });
  });

  test("one that answers with control characters and a megabyte is quoted in one short line", async () => {
    const words = `550 no\u0000 \u001b[31m\u0007 ${"x".repeat(60_000)}`;
    const server = await startScriptedServer({ RCPT: words });
    const { reply } = await senderWith(plainSettings(server.port)).send(mail);
    expect(reply?.text).toMatch(/^no \[31m x+$/);
    expect(reply?.text).toHaveLength(1024);
  });

  test("one that says more than it was asked", async () => {
    const server = await startScriptedServer({
      MAIL: "250 fine\r\n250 fine\r\n250 fine\r\n354 go\r\n250 queued",
    });
    const result = await senderWith(plainSettings(server.port)).send(mail);
    expect(result.stage).not.toBe("done");
  });
});

describe("a check", () => {
  test("takes the way of a mail up to the sender, and tells each reply", async () => {
    const server = await startScriptedServer({ EHLO: "250-scripted\r\n250 AUTH PLAIN" });
    const exchanges: SmtpExchange[] = [];
    const login = { user: "forms", password: "secret" };
    const sender = senderWith(plainSettings(server.port, { login }));
    expect(await sender.check((exchange) => exchanges.push(exchange))).toMatchObject({
      stage: "done",
      reply: { code: 250, text: "sender fine" },
    });
    expect(exchanges).toEqual([
      { stage: "connect", command: null, reply: { code: 220, text: "scripted" } },
      {
        stage: "connect",
        command: "EHLO forms.example.com",
        reply: { code: 250, text: "scripted AUTH PLAIN" },
      },
      { stage: "login", command: "AUTH PLAIN", reply: { code: 235, text: "welcome" } },
      {
        stage: "sender",
        command: "MAIL FROM:<forms@example.com>",
        reply: { code: 250, text: "sender fine" },
      },
      { stage: "sender", command: "RSET", reply: { code: 250, text: "forgotten" } },
    ]);
    expect(server.lines.filter((line) => /RCPT|DATA/.test(line))).toEqual([]);
  });

  test.each([
    ["550 not you", "sender", "sender_refused"],
    ["451 later", "sender", "deferred"],
    ["drop", "sender", "unreachable"],
  ] as const)(
    "of a server that answers the sender with %s fails at %s as %s",
    async (turn, stage, outcome) => {
      const server = await startScriptedServer({ MAIL: turn });
      const result = await senderWith(plainSettings(server.port)).check();
      expect(result.stage).toBe(stage);
      expect(classifyMail(result).outcome).toBe(outcome);
    },
  );
});
