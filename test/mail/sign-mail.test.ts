import { createHash, createVerify, generateKeyPairSync } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createSmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";

const pem = { type: "pkcs8", format: "pem" } as const;
const keys = generateKeyPairSync("rsa", { modulusLength: 1024 });
const dkim = {
  domain: "example.com",
  selector: "forms",
  privateKey: keys.privateKey.export(pem),
};
const letter = Buffer.from(
  [
    "From: <forms@example.com>",
    "Subject: =?UTF-8?B?w6Q=?=\r\n =?UTF-8?B?w7Y=?=",
    "List-Unsubscribe: <https://forms.example.com/u>",
    "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    "",
    ".A  line \r\n\r\nend\r\n\r\n",
  ].join("\r\n"),
);

test("each mail is signed over its body and what a reader sees, the same every time", async () => {
  const server = await startMailServer();
  const sender = createSmtpSender(plainSettings(server.port, { dkim }));
  onTestFinished(() => sender.close());
  await sender.send({ to: "ada@example.org", raw: letter });
  await sender.send({ to: "ada@example.org", raw: letter });
  const [first, second] = server.received.map((received) => received.raw.toString("latin1"));
  expect(first).toBe(second);
  expect(first?.endsWith(letter.toString("latin1"))).toBe(true);
  expect(isSigned(first ?? "")).toBe(true);
  expect(isSigned((first ?? "").replace("end", "End"))).toBe(false);
  expect(isSigned((first ?? "").replace("forms.example.com/u", "evil.example/u"))).toBe(false);
});

test("a mail that is being signed when the sender stops is not sent", async () => {
  const server = await startMailServer();
  const settings = plainSettings(server.port, {
    dkim: {
      ...dkim,
      get privateKey() {
        void sender.close();
        return dkim.privateKey;
      },
    },
  });
  const sender = createSmtpSender(settings);
  const result = await sender.send({ to: "ada@example.org", raw: letter });
  expect(result).toMatchObject({ stage: "connect", problem: { code: "EINTERRUPTED" } });
  expect(server.received).toEqual([]);
});

/** Verifies as RFC 6376 says, with relaxed canonicalisation, by no code of ours or the library's. */
function isSigned(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  const headers = text.slice(0, end).split(/\r\n(?![ \t])/);
  const signature = headers.find((line) => line.startsWith("DKIM-Signature:")) ?? "";
  const tags = Object.fromEntries(
    signature
      .slice(signature.indexOf(":") + 1)
      .replace(/\s+/g, "")
      .split(";")
      .map((tag) => [tag.slice(0, tag.indexOf("=")), tag.slice(tag.indexOf("=") + 1)]),
  ) as Record<string, string>;
  expect(tags).toMatchObject({
    v: "1",
    a: "rsa-sha256",
    c: "relaxed/relaxed",
    d: "example.com",
    s: "forms",
  });
  expect(tags["h"]?.split(":")).toEqual(["from", "subject", "list-unsubscribe", "list-unsubscribe-post"]);
  const body = text
    .slice(end + 4)
    .replace(/[ \t]+/g, " ")
    .replace(/ \r\n/g, "\r\n")
    .replace(/(?:\r\n)+$/, "\r\n");
  if (createHash("sha256").update(body, "latin1").digest("base64") !== tags["bh"]) return false;
  const relaxed = (line: string): string => {
    const colon = line.indexOf(":");
    const unfolded = line
      .slice(colon + 1)
      .replace(/\r\n/g, "")
      .replace(/[ \t]+/g, " ")
      .trim();
    return `${line.slice(0, colon).toLowerCase()}:${unfolded}`;
  };
  const chosen = (tags["h"] ?? "").split(":").map((name) => {
    return relaxed(headers.find((line) => line.toLowerCase().startsWith(`${name}:`)) ?? "");
  });
  const own = relaxed(signature.replace(/b=[^;]*$/, "b="));
  return createVerify("RSA-SHA256")
    .update([...chosen, own].join("\r\n"), "latin1")
    .verify(keys.publicKey, tags["b"] ?? "", "base64");
}
