import { describe, expect, test } from "vitest";
import type { TokenLetter, LetterAnswer, WrittenLetter } from "../../src/mail/letters/letters.ts";
import { createMailedRequests } from "../../src/sessions/ask-by-mail.ts";
import { takeMailedLink } from "../../src/sessions/mailed-link.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { createFakeClock, NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const ADA = "ada@example.org";
const NEW = "new@example.com";
const failing = (code: string): unknown => expect.objectContaining({ code });

/** Requests over a database in which Ada has an account; the letters are kept, and not sent. */
function bench(answer: LetterAnswer = "taken") {
  const db = temporaryDatabase();
  db.now(() => insertAccountRows(ADA, NOON));
  const clock = createFakeClock();
  let nowMs = 0;
  const asked: TokenLetter[] = [];
  const letters = {
    send(letter: TokenLetter) {
      asked.push(letter);
      return answer;
    },
  };
  const dashboardUrl = "https://forms.example.com/dashboard";
  const requests = createMailedRequests({ db, clock, letters, dashboardUrl, nowMs: () => nowMs });
  return {
    db,
    clock,
    requests,
    asked,
    advance: (ms: number) => void (nowMs += ms),
    /** The letter that was asked for last, as it would be sent. */
    last: (): Promise<WrittenLetter | null> => asked.at(-1)?.write() ?? Promise.reject(new Error("none")),
    links: () => db.prepare("SELECT purpose, email FROM mailed_link").all(),
  };
}

const tokenOf = (letter: WrittenLetter | null): string =>
  new URL(letter?.link?.url ?? "about:blank").searchParams.get("token") ?? "";

describe("signing up", () => {
  test("sends a link to an unknown address, and makes nothing else", async () => {
    const { db, clock, requests, last, links } = bench();
    await requests.signUp(` ${NEW} `, "192.0.2.1");
    const letter = await last();
    expect(letter).toMatchObject({ to: NEW, subject: "Confirm your e-mail address for forms.example.com" });
    expect(letter?.link?.url).toMatch(
      /^https:\/\/forms\.example\.com\/dashboard\/sign-up\/confirm\?token=[\w-]{43}$/,
    );
    expect(links()).toEqual([{ purpose: "sign-up", email: NEW }]);
    expect(db.prepare("SELECT email FROM account").pluck().all()).toEqual([ADA]);
    expect(db.now(() => takeMailedLink("sign-up", tokenOf(letter), clock.now()))?.email).toBe(NEW);
  });

  test("tells a known address that there is an account, at the address that is stored, without a token", async () => {
    const { requests, last, links } = bench();
    await requests.signUp("ADA@EXAMPLE.ORG", "192.0.2.1");
    const letter = await last();
    expect(letter).toMatchObject({ to: ADA, link: { url: "https://forms.example.com/dashboard/sign-in" } });
    expect(JSON.stringify(letter)).not.toContain("token");
    expect(links()).toEqual([]);
  });

  test("is not possible before there is an account: the first one sees everything", async () => {
    const { db, requests, asked } = bench();
    db.execute("DELETE FROM workspace; DELETE FROM account");
    await expect(requests.signUp(NEW, "192.0.2.1")).rejects.toEqual(failing("unavailable"));
    expect(asked).toEqual([]);
  });

  test("is limited over all, so that nobody uses this server to write to strangers", async () => {
    const { requests, asked, advance } = bench();
    for (let number = 0; number < 60; number += 1)
      await requests.signUp(`a${number}@example.com`, `192.0.${number}.1`);
    await expect(requests.signUp(NEW, "198.51.100.1")).rejects.toEqual(failing("rate_limited"));
    expect(asked).toHaveLength(60);
    // Who has an account is not kept out by that.
    await requests.resetPassword(ADA, "198.51.100.2");
    advance(HOUR_MS);
    await requests.signUp(NEW, "198.51.100.1");
    expect(asked).toHaveLength(62);
  });
});

describe("a forgotten password", () => {
  test("sends a link to the address that the account has, however it was typed", async () => {
    const { requests, last, links } = bench();
    await requests.resetPassword("Ada@Example.org", "192.0.2.1");
    const letter = await last();
    expect(letter).toMatchObject({ to: ADA, subject: "Set a new password for forms.example.com" });
    expect(letter?.link?.url).toMatch(/\/dashboard\/lost-password\/new\?token=[\w-]{43}$/);
    expect(links()).toEqual([{ purpose: "reset", email: ADA }]);
  });

  test("sends nothing to an unknown address, and stores nothing of it", async () => {
    const { requests, last, links } = bench();
    await requests.resetPassword(NEW, "192.0.2.1");
    expect([await last(), links()]).toEqual([null, []]);
  });

  test("finds an account whose domain is not written in ASCII", async () => {
    const { db, requests, last } = bench();
    db.now(() => insertAccountRows("ana@bücher.example", NOON));
    await requests.resetPassword("ana@bücher.example", "192.0.2.1");
    expect(await last()).toMatchObject({ to: "ana@xn--bcher-kva.example" });
    await requests.resetPassword(" ana@bücher.example ", "192.0.2.1");
    expect(await last()).toMatchObject({ to: "ana@xn--bcher-kva.example" });
  });
});

describe("both", () => {
  test("answer a known and an unknown address alike, and look neither up before the answer", async () => {
    const { db, requests, asked } = bench();
    for (const email of [ADA, NEW]) {
      await expect(requests.signUp(email, "192.0.2.1")).resolves.toBeUndefined();
      await expect(requests.resetPassword(email, "192.0.2.1")).resolves.toBeUndefined();
    }
    expect(asked.map(({ kind, address }) => [kind, address])).toEqual([
      ["sign-up", ADA],
      ["reset", ADA],
      ["sign-up", NEW],
      ["reset", NEW],
    ]);
    expect(db.prepare("SELECT count(*) FROM mailed_link").pluck().get()).toBe(0);
  });

  test("do not tell that an address got too many letters, and tell when too many wait", async () => {
    const many = bench("too many");
    await expect(many.requests.resetPassword(ADA, "192.0.2.1")).resolves.toBeUndefined();
    const full = bench("full");
    for (const email of [ADA, NEW])
      await expect(full.requests.resetPassword(email, "192.0.2.1")).rejects.toEqual(failing("unavailable"));
  });

  test("are limited by the client's network together, and count no other client", async () => {
    const { requests, advance } = bench();
    for (let number = 0; number < 5; number += 1) {
      await requests.signUp(`a${number}@example.com`, `2001:db8::${number + 1}`);
      await requests.resetPassword(`a${number}@example.com`, `2001:db8::1:${number + 1}`);
    }
    const refused = { code: "rate_limited", facts: { retryAfterSeconds: 3600 } };
    await expect(requests.resetPassword(ADA, "2001:db8::ffff")).rejects.toMatchObject(refused);
    await expect(requests.signUp(ADA, "2001:db8::ffff")).rejects.toMatchObject(refused);
    await requests.signUp(ADA, "2001:db8:0:1::1");
    advance(HOUR_MS);
    await requests.resetPassword(ADA, "2001:db8::ffff");
  });

  test.each([
    ["2001:db8:0", (number: number) => `2001:db8:0:${number}::1`, "2001:db8:1::1"],
    ["192.0.2", (number: number) => `192.0.2.${number}`, "192.0.3.1"],
  ])("are limited by the network %s together, which leaves places for others", async (_name, at, other) => {
    const { requests } = bench();
    for (let number = 0; number < 20; number += 2) {
      await requests.signUp(`a${number}@example.com`, at(number));
      await requests.resetPassword(`a${number}@example.com`, at(number + 1));
    }
    for (const ask of ["signUp", "resetPassword"] as const)
      await expect(requests[ask](NEW, at(50))).rejects.toEqual(failing("rate_limited"));
    await requests.signUp(NEW, other);
  });

  test.each([
    "",
    "ada",
    "ada@",
    "a b@example.com",
    "a@b@c",
    "Ada <ada@example.com>",
    "a,b@example.com",
    "a@b\r\nBcc: c@d",
    `${"a".repeat(65)}@example.com`,
  ])("refuse %j, which is no address, and count nothing for it", async (typed) => {
    const { requests, asked } = bench();
    for (let number = 0; number < 12; number += 1)
      for (const ask of ["signUp", "resetPassword"] as const)
        await expect(requests[ask](typed, "192.0.2.1")).rejects.toEqual(failing("usage"));
    expect(asked).toEqual([]);
  });
});
