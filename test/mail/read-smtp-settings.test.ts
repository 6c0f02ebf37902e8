import { generateKeyPairSync } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { type SmtpConfig, readSmtpSettings } from "../../src/mail/smtp/read-smtp-settings.ts";
import type { SmtpSettings } from "../../src/mail/smtp/smtp-settings.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const set = { ...defaultConfig.mail, host: "mail.example.com", from: "forms@example.com" };

function read(change: Partial<SmtpConfig>, baseUrl: string | null = null): SmtpSettings {
  const settings = readSmtpSettings({ ...set, ...change }, baseUrl);
  if (settings === null) throw new Error("there is no mail server");
  return settings;
}

function fileWith(text: string, mode = 0o600): string {
  const file = join(temporaryFolder(), "secret");
  writeFileSync(file, text, { mode });
  chmodSync(file, mode);
  return file;
}

test("without a host there is no e-mail, whatever else is set", () => {
  expect(readSmtpSettings(defaultConfig.mail, null)).toBeNull();
  expect(readSmtpSettings({ ...defaultConfig.mail, user: "forms" }, null)).toBeNull();
});

test("what is left open is chosen: the sender gets what comes back, and is not logged in", () => {
  expect(read({})).toEqual({
    host: "mail.example.com",
    port: 587,
    security: "starttls",
    login: null,
    from: "forms@example.com",
    envelopeFrom: "forms@example.com",
    ownName: "example.com",
    dkim: null,
    timeoutMs: 60_000,
    connections: 2,
  });
  expect(read({ envelopeFrom: "returned@example.net" }).envelopeFrom).toBe("returned@example.net");
  expect(read({ from: "forms@bücher.example" }).from).toBe("forms@xn--bcher-kva.example");
});

test.each([
  ["mail.example.com", 465, "auto", "tls"],
  ["mail.example.com", 587, "auto", "starttls"],
  ["mail.example.com", 25, "auto", "starttls"],
  ["192.0.2.1", 25, "auto", "starttls"],
  ["127.0.0.1", 25, "auto", "none"],
  ["::1", 1025, "auto", "none"],
  ["LOCALHOST", 1025, "auto", "none"],
  ["localhost", 465, "auto", "tls"],
  ["localhost", 587, "starttls", "starttls"],
  ["mail.example.com", 25, "none", "none"],
  ["mail.example.com", 2465, "tls", "tls"],
] as const)("%s:%d with security %s uses %s", (host, port, security, used) => {
  expect(read({ host, port, security }).security).toBe(used);
});

test.each([
  [null, "example.com"],
  ["https://forms.example.net", "forms.example.net"],
  ["https://forms.example.net:8443/base", "forms.example.net"],
  ["http://localhost:8787", "example.com"],
  ["http://192.0.2.1", "example.com"],
  ["http://[2001:db8::1]:8787", "example.com"],
])("with the base URL %s this machine calls itself %s", (baseUrl, name) => {
  expect(read({}, baseUrl).ownName).toBe(name);
});

test("the password is in the configuration, or in the first line of a file", () => {
  expect(read({ user: "forms", password: "secret" }).login).toEqual({ user: "forms", password: "secret" });
  for (const text of ["from a file", "from a file\n", "from a file\r\nand a second line\n"]) {
    const passwordFile = fileWith(text);
    expect(read({ user: "forms", passwordFile }).login?.password).toBe("from a file");
  }
});

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 1024,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

test("a DKIM key is an RSA key in a file", () => {
  const dkim = { domain: "example.com", selector: "forms", keyFile: fileWith(privateKey) };
  expect(read({ dkim }).dkim).toEqual({ domain: "example.com", selector: "forms", privateKey });
});

describe("a wrong setting is refused with its path, and what to write", () => {
  const dkimOf = (keyFile: string) => ({ dkim: { domain: "example.com", selector: "forms", keyFile } });
  const pem = { type: "pkcs8", format: "pem" } as const;
  const shortKey = () => generateKeyPairSync("rsa", { modulusLength: 768 }).privateKey.export(pem);
  const otherKey = () => generateKeyPairSync("ed25519").privateKey.export(pem);

  const CASES: readonly (readonly [string, () => Partial<SmtpConfig>, RegExp])[] = [
    ["no sender", () => ({ from: null }), /^mail\.from: e-mail needs a sender: write an address/],
    ["no password", () => ({ user: "forms" }), /^mail\.password: there is mail\.user and no password/],
    ["no name", () => ({ password: "x" }), /^mail\.user: there is a password and no name/],
    [
      "two passwords",
      () => ({ user: "forms", password: "x", passwordFile: "y" }),
      /^mail\.passwordFile: expected password or passwordFile, not both/,
    ],
    [
      "a missing file",
      () => ({ user: "forms", passwordFile: "/no/such/file" }),
      /^mail\.passwordFile: \/no\/such\/file: there is no such file/,
    ],
    [
      "a file for everybody",
      () => ({ user: "forms", passwordFile: fileWith("x", 0o644) }),
      /^mail\.passwordFile: .*everybody may read it; close it with: chmod 600/,
    ],
    [
      "an empty file",
      () => ({ user: "forms", passwordFile: fileWith("\nsecond") }),
      /^mail\.passwordFile: .*its first line is empty/,
    ],
    [
      "a folder",
      () => ({ user: "forms", passwordFile: temporaryFolder() }),
      /^mail\.passwordFile: .*(?:everybody may read it|is a folder)/,
    ],
    [
      "half of DKIM",
      () => ({ dkim: { domain: "example.com", selector: null, keyFile: null } }),
      /^mail\.dkim: expected domain, selector and keyFile together/,
    ],
    ["no key", () => dkimOf(fileWith("hello")), /^mail\.dkim\.keyFile: .*expected a private key as PEM/],
    [
      "a key of another kind",
      () => dkimOf(fileWith(otherKey())),
      /^mail\.dkim\.keyFile: .*expected an RSA key, and it is ed25519/,
    ],
    [
      "a short key",
      () => dkimOf(fileWith(shortKey())),
      /^mail\.dkim\.keyFile: .*a key of 768 bits is ignored by receivers; make one of 2048/,
    ],
    [
      "a missing key",
      () => dkimOf("/no/such/key"),
      /^mail\.dkim\.keyFile: \/no\/such\/key: there is no such file/,
    ],
  ];

  test.each(CASES)("%s", (_name, change, message) => {
    expect(() => read(change())).toThrow(message);
  });

  test("no error holds a password or a key", () => {
    const password = "correct horse battery staple";
    const dkim = { domain: "example.com", selector: "forms", keyFile: fileWith(`${password}${privateKey}`) };
    try {
      read({ user: "forms", password, dkim });
      throw new Error("it was taken");
    } catch (error) {
      expect(JSON.stringify(error)).not.toContain(password);
      expect((error as Error).message).not.toContain(password);
    }
  });
});
