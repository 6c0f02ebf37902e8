import { describe, expect, onTestFinished, test } from "vitest";
import type { Sleep } from "../../src/sessions/attempt-limits.ts";
import { makeSignInLink } from "../../src/sessions/sign-in-link.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { signInForms } from "../support/sign-in-form.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import type { Answer } from "../support/http-client.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** Strangers guess the password of one account from everywhere, while its owner wants to sign in. */
const ATTACKERS = 108;
/** Strangers who may wait at once. */
const PLACES = 100;
const HOME = "203.0.113.9";
/** What the longest delay of an account takes. */
const DELAY_MS = 8000;

/** As a trusted proxy with https adds them. */
function from(address: string, more: Record<string, string> = {}): Record<string, string> {
  return { "x-forwarded-proto": "https", "x-forwarded-for": address, host: "forms.example", ...more };
}

/** The waits of attempts, which nobody has to sit out: they end when the test says so. */
function createWaits() {
  const begun: { readonly ms: number; readonly end: () => void; readonly giveUp: () => void }[] = [];
  let areHeld = false;
  const sleep: Sleep = (ms, signal) => {
    if (!areHeld) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => reject(new Error("made way for another line")));
    begun.push({ ms, end: resolve, giveUp: () => reject(new Error("the test is over")) });
    return promise;
  };
  return {
    sleep,
    begun,
    hold: () => void (areHeld = true),
    giveUp: () => begun.forEach(({ giveUp }) => giveUp()),
  };
}

async function startCrowdedServer() {
  const waits = createWaits();
  const pace = { visitIntervalMs: 0, signInSleep: waits.sleep };
  const server = await startServer({ server: { trustProxy: ["127.0.0.1"] } }, pace);
  // Before the server stops, which answers everybody.
  onTestFinished(waits.giveUp);
  const forms = signInForms(server);
  return { server, forms, waits };
}

type Crowded = Pick<Awaited<ReturnType<typeof startCrowdedServer>>, "forms" | "waits">;

/** Wrong passwords from as many /64s of one /48, until the room to wait in is full of them. */
async function fillRoom({ forms, waits }: Crowded): Promise<void> {
  waits.hold();
  const answers: Answer[] = [];
  const guess = async (index: number): Promise<void> => {
    const address = `2001:db8:9:${index.toString(16)}::1`;
    answers.push(await forms.signIn({ password: `guess number ${index}` }, from(address)));
  };
  for (let index = 0; index < ATTACKERS; index += 1) void guess(index);
  // Some were free, a hundred wait, and the last of them found no place.
  await until(() => answers.some(({ status }) => status === 503));
  await until(() => waits.begun.length === PLACES);
}

/** All cookies that an answer sets, as the browser sends them back. */
function cookiesOf({ headers }: Answer): string {
  return [...(headers["set-cookie"] ?? "").matchAll(/(?:^|, )([\w-]+=[^;]*);/g)]
    .map(([, pair]) => pair)
    .join("; ");
}

function knownCookieOf(answer: Answer): string {
  return /__Host-formsvc-known=[^;]+/.exec(answer.headers["set-cookie"] ?? "")?.[0] ?? "";
}

/** What an attempt came to, and which time it had to wait: null if none. */
async function attempt(
  { waits }: Crowded,
  send: () => Promise<Answer>,
): Promise<{ status: number; waitedMs: number | null }> {
  const answered = send();
  const waited = await Promise.race([answered.then(() => null), until(() => waits.begun[PLACES])]);
  waited?.end();
  const { status } = await answered;
  return { status, waitedMs: waited?.ms ?? null };
}

describe("while one IPv6 /48 guesses a password on 108 connections", () => {
  test("its owner signs in from a clean address, after the account's delay", async () => {
    const crowded = await startCrowdedServer();
    const { forms } = crowded;
    await forms.useLink({}, from("192.0.2.1"));
    await fillRoom(crowded);
    const came = await attempt(crowded, () => forms.signIn({}, from(HOME)));
    expect(came).toEqual({ status: 303, waitedMs: DELAY_MS });
  });

  test("a browser that signed in before does not wait, wherever it is and although it signed out", async () => {
    const crowded = await startCrowdedServer();
    const { forms } = crowded;
    const first = await forms.useLink({}, from("192.0.2.1"));
    const out = await forms.post("/sign-out", {}, from("192.0.2.1", { cookie: cookiesOf(first) }));
    expect(out.headers["set-cookie"]).not.toContain("formsvc-known");
    await fillRoom(crowded);
    const cookie = knownCookieOf(first);
    const came = await attempt(crowded, () => forms.signIn({}, from(HOME, { cookie })));
    expect(came).toEqual({ status: 303, waitedMs: null });
  });

  test("an address that signed in within 30 days does not wait, and after them it does", async () => {
    const crowded = await startCrowdedServer();
    const { server, forms } = crowded;
    await forms.useLink({}, from(HOME));
    server.clock.advance(29 * DAY_MS);
    await fillRoom(crowded);
    const signIn = () => forms.signIn({}, from(HOME));
    expect(await attempt(crowded, signIn)).toEqual({ status: 303, waitedMs: null });
    server.clock.advance(31 * DAY_MS);
    expect(await attempt(crowded, signIn)).toMatchObject({ waitedMs: DELAY_MS });
  });
});

describe("a stranger who guesses from the owner's own address", () => {
  test("uses up the attempts of that address, and not those of the browser that signed in before", async () => {
    const { forms } = await startCrowdedServer();
    const cookie = knownCookieOf(await forms.useLink({}, from(HOME)));
    for (let count = 0; count < 10; count += 1)
      await forms.signIn({ password: "not the password" }, from(HOME));
    expect((await forms.signIn({}, from(HOME))).status).toBe(429);
    expect((await forms.signIn({}, from(HOME, { cookie }))).status).toBe(303);
  });

  test("of other accounts takes none of the owner's attempts", async () => {
    const { forms } = await startCrowdedServer();
    await forms.useLink({}, from(HOME));
    for (let count = 0; count < 10; count += 1)
      await forms.signIn({ email: `nobody${count}@example.org` }, from(HOME));
    expect((await forms.signIn({ email: "nobody@example.org" }, from(HOME))).status).toBe(429);
    expect((await forms.signIn({}, from(HOME))).status).toBe(303);
  });
});

describe("the cookie of a known browser", () => {
  const setCookie = async (headers: Record<string, string>) => {
    const { forms } = await startCrowdedServer();
    return (await forms.useLink({}, headers)).headers["set-cookie"] ?? "";
  };

  test("lasts a year, for this host alone and closed to scripts; over plain http it has a name that browsers take", async () => {
    const secure = await setCookie(from(HOME));
    expect(secure).toMatch(
      /__Host-formsvc-known=[\w-]{22}\.[\w-]{43}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure/,
    );
    const plain = await setCookie({});
    expect(plain).toMatch(
      /(?:^|, )formsvc-known=[^;]+; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax(?:,|$)/,
    );
    expect(plain).not.toContain("__Host-");
  });

  test("signs nobody in, and is worth nothing for another account or when a character is changed", async () => {
    const { server, forms } = await startCrowdedServer();
    const cookie = knownCookieOf(await forms.useLink({}, from("192.0.2.1")));
    const asked = await server.request({
      method: "GET",
      path: "/dashboard",
      headers: from(HOME, { cookie }),
    });
    expect(asked.headers["location"]).toContain("/dashboard/sign-in");
    const forged = cookie.replace(/.$/, (last) => (last === "A" ? "E" : "A"));
    for (let count = 0; count < 10; count += 1)
      await forms.signIn({ password: "not the password" }, from(HOME, { cookie: forged }));
    expect((await forms.signIn({}, from(HOME, { cookie: forged }))).status).toBe(429);
    const elsewhere = { email: "ben@example.org" };
    expect((await forms.signIn(elsewhere, from(HOME, { cookie }))).status).toBe(429);
    expect((await forms.signIn({}, from(HOME, { cookie }))).status).toBe(303);
  });

  test("knows five accounts of a browser, and goes on knowing the earlier ones when another signs in", async () => {
    const { server, forms } = await startCrowdedServer();
    const first = knownCookieOf(await forms.useLink({}, from(HOME)));
    const again = knownCookieOf(await forms.signIn({}, from(HOME, { cookie: first })));
    expect(again).toBe(first);
    const token = linkOf(server, "ben@example.org");
    const both = knownCookieOf(await forms.useLink({ token }, from(HOME, { cookie: first })));
    expect(both).toMatch(/=[\w-]{22}(?:\.[\w-]{43}){2}$/);
    expect(both.split(".")[2]).toBe(first.split(".")[1]);
  });
});

test("the database has no address of who signed in: only a hash under a key, as many as are kept", async () => {
  const { server, forms } = await startCrowdedServer();
  for (let network = 0; network < 55; network += 1) {
    server.clock.advance(1000);
    await forms.useLink({}, from(`198.51.${network}.7`));
  }
  const rows = server.owner.prepare("SELECT hex(address_hash) AS hash FROM known_address").all() as {
    hash: string;
  }[];
  expect(rows).toHaveLength(50);
  expect(new Set(rows.map(({ hash }) => hash.length))).toEqual(new Set([64]));
  expect(JSON.stringify(server.log)).not.toContain("198.51.");
});

function linkOf({ owner, clock }: TestServer, email: string): string {
  owner.now(() => insertAccountRows(email, clock.now()));
  return owner.now(() => makeSignInLink(email, clock.now())).token;
}
