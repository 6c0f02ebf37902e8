import { generateKeyPairSync } from "node:crypto";
import { chmodSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createAuthority } from "../support/certificates.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { startMailServer } from "../support/smtp-servers.ts";

test("the executable sends a signed e-mail over STARTTLS, to a server whose authority the environment names", async () => {
  const authority = createAuthority();
  onTestFinished(() => authority.remove());
  const server = await startMailServer({ disabledCommands: [], ...authority.issue("IP:127.0.0.1") });
  const machine = operatorMachine();
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const keyFile = machine.write("dkim.pem", privateKey);
  chmodSync(keyFile, 0o600);
  const dkim = { domain: "example.com", selector: "forms", keyFile };
  const from = "forms@example.com";
  machine.configure({ mail: { host: "127.0.0.1", port: server.port, security: "starttls", from, dkim } });

  const untrusted = await machine.run(["mail", "test", "ada@example.org"]);
  expect([untrusted.code, untrusted.stdout]).toEqual([1, expect.stringContaining("NODE_EXTRA_CA_CERTS")]);
  expect(server.received).toEqual([]);

  const env = { NODE_EXTRA_CA_CERTS: machine.write("authority.pem", authority.cert) };
  await machine.mustRun(["mail", "test", "ada@example.org"], { env });
  expect(server.received).toHaveLength(1);
  expect(server.received[0]?.raw.toString()).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256;/);
});
