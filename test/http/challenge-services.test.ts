import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Challenge, NO_CHALLENGE, writeChallengeSecret } from "../../src/endpoints/challenge.ts";
import { checkChallenges } from "../../src/submissions/receive/challenge-health.ts";
import { NO_PAGE } from "../../src/endpoints/own-page.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { startServer } from "../support/test-server.ts";

const SERVICES = [
  ["turnstile", "cf-turnstile-response", "challenges.cloudflare.com"],
  ["hcaptcha", "h-captcha-response", "js.hcaptcha.com"],
] as const;

interface Asked {
  readonly method: string | undefined;
  readonly type: string | undefined;
  readonly form: Record<string, string>;
}

/**
 * Answers as Turnstile and hCaptcha do: a form with `secret` and `response`, JSON with `success` and `error-codes`, each token once.
 * hCaptcha takes the token of any site of an account unless it is told the `sitekey`; a token names its own behind an @.
 */
async function service() {
  const asked: Asked[] = [];
  const used = new Set<string>();
  const box = { answer: null as { readonly status: number; readonly body: string } | "never" | null };
  const http = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const form = Object.fromEntries(new URLSearchParams(body));
      asked.push({ method: request.method, type: request.headers["content-type"], form });
      if (box.answer === "never") return;
      const codes: string[] = [];
      const token = form["response"] ?? "";
      if (form["secret"] !== "0x-secret") codes.push("invalid-input-secret");
      else if (!token.startsWith("good")) codes.push("invalid-input-response");
      else if (used.has(token)) codes.push("timeout-or-duplicate");
      else if ("sitekey" in form && !token.endsWith(`@${form["sitekey"]}`))
        codes.push("sitekey-secret-mismatch");
      used.add(token);
      const told = { success: codes.length === 0, "error-codes": codes, hostname: "bakery.example" };
      response.writeHead(box.answer?.status ?? 200, {
        "content-type": "application/json",
        location: "/other",
      });
      response.end(box.answer?.body ?? JSON.stringify(told));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/siteverify`;
  /** Cuts what waits. */
  const release = (): void => http.closeAllConnections();
  return { asked, box, url, release };
}

async function world(
  kind: Challenge["kind"],
  more: Partial<Challenge> = {},
  secret: string | null = "0x-secret",
  timeoutMs = 10_000,
) {
  const vendor = await service();
  const server = await startServer({
    challenge: { turnstileUrl: vendor.url, hcaptchaUrl: vendor.url, timeoutMs },
  });
  const endpoint = await server.addEndpoint({
    schema: { message: { type: "string", required: true } },
    settings: { unknownFields: "set-aside", challenge: { ...NO_CHALLENGE, kind, isRequired: true, ...more } },
  });
  const keyring = createKeyring(server.config.secrets);
  server.owner.now(() => writeChallengeSecret(keyring, endpoint.id, secret));
  const send = (body: Record<string, unknown>) =>
    server.post(endpoint.publishable, { message: "Two cakes please.", ...body });
  const findings = () => server.owner.now(checkChallenges);
  return { server, endpoint, vendor, send, findings };
}

describe.each(SERVICES)("%s", (kind, member, host) => {
  test("a form that is sent again with its Idempotency-Key and a new token is the same post", async () => {
    const { server, endpoint, vendor } = await world(kind);
    const send = (token: string, message = "Two cakes") =>
      server.request({
        method: "POST",
        path: `/f/${endpoint.publishable}`,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          accept: "application/json",
          "idempotency-key": "order-1",
        },
        body: new URLSearchParams({ message, [member]: token }).toString(),
      });
    const [first, again] = [await send("good-1"), await send("good-2")];
    expect([first.status, again.text]).toEqual([200, first.text]);
    expect((await send("good-3", "Three cakes")).status).toBe(409);
    expect([server.stored(), vendor.asked.length]).toEqual([[{ message: "Two cakes" }], 1]);
  });

  test("a token is checked once by the owner's secret, and is not stored", async () => {
    const { server, vendor, send } = await world(kind);
    expect((await send({ [member]: "good-1", "g-recaptcha-response": "good-1" })).status).toBe(200);
    expect(vendor.asked).toEqual([
      {
        method: "POST",
        type: "application/x-www-form-urlencoded;charset=UTF-8",
        form: { secret: "0x-secret", response: "good-1" },
      },
    ]);
    expect(server.stored()).toEqual([{ message: "Two cakes please." }]);
    expect(server.owner.prepare("SELECT unknown_fields FROM submission").pluck().get()).toBeNull();
  });

  test("a token that the service refuses, a replayed or a missing one, is refused if it is required", async () => {
    const { server, vendor, send } = await world(kind);
    await send({ [member]: "good-1" });
    for (const token of ["good-1", "forged", "", 7, { a: 1 }, "x".repeat(9000), undefined])
      expect((await send({ [member]: token })).status).toBe(403);
    expect(server.stored()).toHaveLength(1);
    expect(vendor.asked.length).toBe(3);
  });

  test("a wrong token costs points and no post if the challenge is not required", async () => {
    const { server, send } = await world(kind, { isRequired: false });
    expect((await send({ [member]: "forged" })).status).toBe(200);
    expect((await send({ [member]: "good-1" })).status).toBe(200);
    const rows = server.owner
      .prepare("SELECT spam_reasons FROM submission ORDER BY seq")
      .pluck()
      .all() as string[];
    const pointsOf = (row: string) =>
      (JSON.parse(row) as { signal: string; points: number }[])
        .filter(({ signal }) => signal === "challenge")
        .map(({ points }) => points);
    expect(rows.map(pointsOf)).toEqual([[20], []]);
  });

  test("a post that its schema refuses does not spend its token", async () => {
    const { send, vendor } = await world(kind);
    expect((await send({ message: 7, [member]: "good-1" })).status).toBe(400);
    expect(vendor.asked).toEqual([]);
    expect((await send({ [member]: "good-1" })).status).toBe(200);
  });

  test.each([
    ["an error", { status: 500, body: "<html>Internal error" }],
    ["a redirect", { status: 302, body: "" }],
    ["no verdict", { status: 200, body: '{"success":"yes"}' }],
    ["another JSON", { status: 200, body: "null" }],
    ["a flood", { status: 200, body: " ".repeat(200_000) }],
    ["a verdict in a flood", { status: 200, body: `{"success":false,"x":"${"x".repeat(200_000)}"}` }],
    ["nothing", "never" as const],
  ])(
    "a post is taken without points if the service gives %s, and doctor says so until it gives verdicts",
    async (_what, answer) => {
      const timeoutMs = answer === "never" ? 500 : undefined;
      const { server, vendor, send, findings } = await world(kind, {}, "0x-secret", timeoutMs);
      vendor.box.answer = answer;
      expect((await send({ [member]: "anything" })).status).toBe(200);
      const reasons = server.owner.prepare("SELECT spam_reasons FROM submission").pluck().get();
      expect(reasons).not.toContain("challenge");
      await expect.poll(() => findings().some(({ ok }) => !ok)).toBe(true);
      vendor.box.answer = null;
      const isWell = async (): Promise<boolean> => {
        await send({ [member]: `good-${vendor.asked.length}` });
        return findings().every(({ ok }) => ok);
      };
      await expect.poll(isWell).toBe(true);
    },
  );

  test("a post is taken if nobody listens there, and if the secret is wrong or missing, which doctor says", async () => {
    for (const secret of ["0x-other", null]) {
      const { send, findings } = await world(kind, {}, secret);
      expect((await send({ [member]: "good-1" })).status).toBe(200);
      await expect
        .poll(() =>
          findings()
            .map(({ message }) => message)
            .join(),
        )
        .toMatch(/invalid-input-secret|no secret/);
    }
  });

  test.each(["sitekey-secret-mismatch", "bad-request", "timeout-or-duplicate", "invalid-input-response"])(
    "a token that brings the service to say %s is a wrong one: nobody goes round a required challenge by it",
    async (code) => {
      const { server, vendor, send } = await world(kind);
      vendor.box.answer = { status: 200, body: JSON.stringify({ success: false, "error-codes": [code] }) };
      expect((await send({ [member]: "of another site" })).status).toBe(403);
      expect(server.stored()).toEqual([]);
    },
  );

  test("one address has at most 8 posts that wait for the service, and more of them are not let by", async () => {
    const { server, vendor, send } = await world(kind);
    vendor.box.answer = "never";
    const waiting = Array.from({ length: 8 }, () => send({ [member]: "good" }));
    await expect.poll(() => vendor.asked.length).toBe(8);
    const refused = await send({ [member]: "good" });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
    expect(server.stored()).toEqual([]);
    vendor.release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array<number>(8).fill(200));
    vendor.box.answer = null;
    expect((await send({ [member]: "good-1" })).status).toBe(200);
  });

  test("the form's own page has the task of the service, and its policy allows that one alone", async () => {
    const { server, endpoint } = await world(kind, { siteKey: "10000000-ffff-ffff" });
    const { changeEndpoint } = await import("../support/terminal.ts");
    server.owner.now(() => changeEndpoint(endpoint.id, { settings: { page: { ...NO_PAGE, isOn: true } } }));
    const read = () => server.request({ method: "GET", path: `/p/${endpoint.id}` });
    await expect.poll(async () => (await read()).status).toBe(200);
    const { text, headers } = await read();
    expect(text).toContain('data-sitekey="10000000-ffff-ffff"');
    expect(text).toContain(`<script src="https://${host}/`);
    expect(headers["content-security-policy"]).toMatch(
      /^script-src https:\/\/(?:challenges\.cloudflare|hcaptcha)\.com/,
    );
  });
});

test("hCaptcha is told which site key is expected: a token of the owner's other site is wrong", async () => {
  const { server, send } = await world("hcaptcha", { siteKey: "10000000-ffff" });
  expect((await send({ "h-captcha-response": "good@20000000-ffff" })).status).toBe(403);
  expect(server.stored()).toEqual([]);
  expect((await send({ "h-captcha-response": "good@10000000-ffff" })).status).toBe(200);
});

test("Turnstile, which has a secret for each site key, is told the secret and the token alone", async () => {
  const { vendor, send } = await world("turnstile", { siteKey: "0x4AAA" });
  expect((await send({ "cf-turnstile-response": "good" })).status).toBe(200);
  expect(vendor.asked.map(({ form }) => form)).toEqual([{ secret: "0x-secret", response: "good" }]);
});
