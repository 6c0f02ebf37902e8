import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { createTxtLookup } from "../../src/mail/health/look-up-txt.ts";
import { checkMailSecurity } from "../../src/mail/health/relay-health.ts";
import { checkSenderDomain } from "../../src/mail/health/sender-domain-health.ts";
import { defaultMail } from "../../src/config/mail-section.ts";
import { type DnsAnswer, startDnsServer } from "../support/dns-server.ts";
import { plainSettings } from "../support/smtp-servers.ts";

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 1024,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const PUBLIC = createPublicKey(privateKey).export({ type: "spki", format: "der" }).toString("base64");
const DKIM = { domain: "example.com", selector: "forms", privateKey };
const SPF = "v=spf1 include:spf.provider.example ~all";

const SOUND = {
  "example.com": ["some-verification=1", SPF],
  "forms._domainkey.example.com": [`v=DKIM1; k=rsa; p=${PUBLIC}`],
  "_dmarc.example.com": ["v=DMARC1; p=quarantine; rua=mailto:ops@example.com"],
};

/** The findings for forms@example.com, by name. */
async function look(zone: Readonly<Record<string, DnsAnswer>>, change = {}) {
  const { resolver, asked } = await startDnsServer({ ...SOUND, ...zone });
  const settings = plainSettings(587, { host: "smtp.example.com", dkim: DKIM, ...change });
  const findings = await checkSenderDomain(createTxtLookup(resolver), settings, "ops@example.org");
  const of = (name: string) => findings.find((finding) => finding.name === name);
  return { asked, spf: of("mail.spf"), dkim: of("mail.dkim"), dmarc: of("mail.dmarc") };
}

test("a domain with all three records is sound, and each finding says what it means", async () => {
  const { spf, dkim, dmarc, asked } = await look({});
  expect([spf?.ok, dkim?.ok, dmarc?.ok]).toEqual([true, true, true]);
  expect(spf?.message).toContain(SPF);
  expect(dkim?.message).toContain("has the public key that belongs to mail.dkim.keyFile");
  expect(dmarc?.message).toContain("goes to the spam (p=quarantine)");
  expect(asked.toSorted()).toEqual(["_dmarc.example.com", "example.com", "forms._domainkey.example.com"]);
});

test("each record that is missing is given, ready to paste", async () => {
  const { spf, dkim, dmarc } = await look({
    "example.com": [],
    "forms._domainkey.example.com": "NXDOMAIN",
    "_dmarc.example.com": "NXDOMAIN",
  });
  expect([spf?.ok, dkim?.ok, dmarc?.ok]).toEqual([false, false, false]);
  expect(spf?.advice).toContain("v=spf1 include:<the name that your mail provider gives for SPF> ~all");
  expect(spf?.advice).toContain("v=spf1 a:smtp.example.com ~all");
  expect(dkim?.advice).toBe(
    `put this TXT record at forms._domainkey.example.com: v=DKIM1; k=rsa; p=${PUBLIC}`,
  );
  expect(dmarc?.advice).toBe(
    "add a TXT record at _dmarc.example.com: v=DMARC1; p=none; rua=mailto:ops@example.org",
  );
});

test("a domain that does not exist, servers that fail, and an answer that never comes are told apart", async () => {
  expect((await look({ "example.com": "NXDOMAIN" })).spf?.message).toContain("is not in DNS");
  const failing = await look({ "example.com": "SERVFAIL", "_dmarc.example.com": "SERVFAIL" });
  expect(failing.spf?.message).toContain(
    "example.com could not be looked up: the DNS servers of the domain fail",
  );
  expect(failing.dmarc?.message).toContain("SERVFAIL");
  expect(failing.dkim?.ok).toBe(true);
  // What ends all lookups after three seconds.
  const { resolver } = await startDnsServer({ "example.com": "silence" }, (asking) => asking.cancel());
  expect(await createTxtLookup(resolver)("example.com")).toEqual({
    kind: "failed",
    why: "the DNS server of this machine did not answer in time",
  });
});

test.each([
  ["two records", [SPF, "v=spf1 mx -all"], "has 2 SPF records"],
  ["a record for everybody", ["v=spf1 +all"], "lets every server send"],
  ["a record without a sign before all", ["v=spf1 mx all"], "lets every server send"],
  ["a record for nobody", ["v=spf1 -all"], "sends no e-mail"],
  ["a record of another version", ["v=spf10 -all"], "has no SPF record"],
])("SPF with %s is a problem", async (_what, records, message) => {
  const { spf } = await look({ "example.com": records });
  expect([spf?.ok, spf?.advice === null]).toEqual([false, false]);
  expect(spf?.message).toContain(message);
});

test("SPF is looked up at the domain of mail.envelopeFrom, because receivers look there", async () => {
  const { spf } = await look({ "bounce.example.net": [SPF] }, { envelopeFrom: "back@bounce.example.net" });
  expect(spf?.message).toContain("bounce.example.net names the servers");
});

test("a public key that is another one, or revoked, is a problem; spaces and parts of the record are none", async () => {
  const at = (record: string) => look({ "forms._domainkey.example.com": [record] });
  expect((await at(`v=DKIM1; p=AAAA${PUBLIC.slice(4)}=`)).dkim?.message).toContain("has another key");
  expect((await at("v=DKIM1; p=")).dkim?.message).toContain("revoked");
  const spaced = `v=DKIM1 ; n=${"note ".repeat(30)}; p = ${PUBLIC.slice(0, 50)} ${PUBLIC.slice(50)} ;`;
  expect((await at(spaced)).dkim?.ok).toBe(true);
  expect((await look({}, { dkim: null })).dkim).toMatchObject({ ok: true });
});

test("DMARC of a domain above counts, by its policy for those below", async () => {
  const from = { from: "forms@mail.example.com", envelopeFrom: "forms@example.com" };
  const above = ["v=DMARC1; p=none; sp=reject"];
  const { dmarc, asked } = await look({ "_dmarc.example.com": above }, from);
  expect(dmarc).toMatchObject({ ok: true });
  expect(dmarc?.message).toContain("is refused (p=reject)");
  expect(asked).toContain("_dmarc.mail.example.com");
  expect(asked).not.toContain("_dmarc.com");
  const wrong = await look({ "_dmarc.example.com": ["v=DMARC1; rua=mailto:ops@example.com"] });
  expect(wrong.dmarc?.message).toContain("has no policy");
});

test("a hostile record is shown cut, in one line, and without control characters", async () => {
  const { spf } = await look({ "example.com": [`v=spf1 \u001b[31m\r\nBcc: ${"x".repeat(700)} +all`] });
  expect(spf?.message).toMatch(/^[\u0020-\u007e…]{1,300}$/);
});

test("clear text to another machine is a problem; to this machine, and with encryption, it is none", () => {
  const at = (host: string | null, security: "auto" | "none") =>
    checkMailSecurity({ ...defaultMail, host, security }).map(({ ok }) => ok);
  expect(at(null, "none")).toEqual([]);
  expect(at("10.0.0.5", "none")).toEqual([false]);
  expect(at("mail.example.com", "none")).toEqual([false]);
  expect([at("localhost", "none"), at("mail.example.com", "auto")]).toEqual([[true], [true]]);
  const withLogin = { ...defaultMail, host: "mail.example.com", security: "none" as const, user: "forms" };
  expect(checkMailSecurity(withLogin)[0]?.message).toContain("the password");
  const near = { ...defaultMail, host: "localhost", user: "ada", password: "x" };
  expect(checkMailSecurity(near)).toMatchObject([
    { ok: true, message: expect.stringContaining("the password is sent to it in clear text") as string },
  ]);
  for (const other of [
    { ...near, user: null },
    { ...near, security: "none" as const },
    { ...near, port: 465 },
  ])
    expect(checkMailSecurity(other)[0]?.message).not.toContain("in clear text;");
});
