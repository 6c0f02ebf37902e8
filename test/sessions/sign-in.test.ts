import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { clearTotp } from "../../src/sessions/credential-store.ts";
import { makeMailedLink } from "../../src/sessions/mailed-link.ts";
import { addressOfLink } from "../../src/sessions/use-link.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { openForTest } from "../support/temporary-database.ts";
import { NOON } from "../support/fake-clock.ts";
import { CLIENT, EMAIL, PASSWORD, signInBench } from "../support/sign-in-bench.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

const STEP = 30_000;
const failing = (code: string): unknown => expect.objectContaining({ code });

/** From another address each time, so that the limit by address is out of the way. */
function anywhere(number: number) {
  return { ...CLIENT, address: `198.51.100.${number}` };
}

describe("a link", () => {
  test("sets the password and signs in", async () => {
    const bench = signInBench();
    const session = await bench.setPassword();
    expect(bench.view(session)).toMatchObject({ email: EMAIL, isOperator: true });
    const answer = await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT);
    expect(answer.kind).toBe("signed in");
  });

  test("ends the sessions that there were, and replaces the password", async () => {
    const bench = signInBench();
    const earlier = await bench.setPassword();
    const session = await bench.setPassword("another password");
    expect([bench.view(earlier), bench.view(session)]).toEqual([undefined, expect.anything()]);
    await expect(bench.signIns.signIn(EMAIL, PASSWORD, CLIENT)).rejects.toEqual(failing("unauthorized"));
    expect((await bench.signIns.signIn(EMAIL, "another password", CLIENT)).kind).toBe("signed in");
  });

  test("that is used twice at once works for one of them", async () => {
    const bench = signInBench();
    const other = signInBench({ db: openForTest(bench.db.path) });
    const token = bench.link();
    const use = (each: typeof bench, newPassword: string) =>
      each.signIns.useLink({ token, newPassword, code: "" }, CLIENT);
    const outcomes = await Promise.allSettled([
      use(bench, "the first of both"),
      use(other, "the other of both"),
      use(bench, "the third of both"),
    ]);
    const won = outcomes.filter(({ status }) => status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toEqual(failing("unauthorized"));
    expect(bench.db.prepare("SELECT count(*) FROM session").pluck().get()).toBe(1);
  });

  test("that many use at once costs the account no code, and its address no attempt: the next link works", async () => {
    const bench = signInBench();
    const { code } = await bench.setBoth();
    for (let round = 0; round < 4; round += 1) {
      bench.clock.advance(STEP);
      const [token, right] = [bench.link(), code()];
      const use = () => bench.signIns.useLink({ token, newPassword: PASSWORD, code: right }, CLIENT);
      const outcomes = await Promise.allSettled([use(), use(), use(), use()]);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const outcome of outcomes)
        if (outcome.status === "rejected") expect(outcome.reason).toEqual(failing("unauthorized"));
    }
  });

  test("is not used up by a password that is refused", async () => {
    const bench = signInBench();
    const token = bench.link();
    const use = (newPassword: string) => bench.signIns.useLink({ token, newPassword, code: "" }, CLIENT);
    for (const wrong of ["", "11 bytes ...".slice(1), "x".repeat(1025), "é".repeat(513)])
      await expect(use(wrong), wrong).rejects.toEqual(failing("usage"));
    expect(bench.view(await use("é".repeat(512)))).toBeDefined();
    expect((await bench.signIns.signIn(EMAIL, "é".repeat(512), CLIENT)).kind).toBe("signed in");
  });

  test("does not get past the second factor, and is not used up by a wrong code", async () => {
    const bench = signInBench();
    const { code } = await bench.setBoth();
    bench.clock.advance(STEP);
    const token = bench.link();
    const use = (given: string) =>
      bench.signIns.useLink({ token, newPassword: "another password", code: given }, CLIENT);
    for (const wrong of ["", "000000"]) await expect(use(wrong)).rejects.toEqual(failing("unauthorized"));
    expect((await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT)).kind).toBe("needs code");
    expect(bench.view(await use(code()))).toBeDefined();
    expect((await bench.signIns.signIn(EMAIL, "another password", CLIENT)).kind).toBe("needs code");
  });

  test("that is unknown costs an attempt and says nothing about accounts", async () => {
    const bench = signInBench();
    const use = () =>
      bench.signIns.useLink({ token: "A".repeat(32), newPassword: PASSWORD, code: "" }, CLIENT);
    for (let count = 0; count < 10; count += 1) await expect(use()).rejects.toEqual(failing("unauthorized"));
    await expect(use()).rejects.toEqual(failing("rate_limited"));
  });
});

describe("a link in a letter to who forgot the password", () => {
  const letterLink = (bench: ReturnType<typeof signInBench>) =>
    bench.db.now(() => makeMailedLink("reset", EMAIL, bench.clock.now()));
  const reset = (bench: ReturnType<typeof signInBench>, token: string, code = "") =>
    bench.signIns.resetPassword({ token, newPassword: "another password", code }, CLIENT);

  test("does not get past the second factor, and is not used up by a wrong code", async () => {
    const bench = signInBench();
    const { code } = await bench.setBoth();
    bench.clock.advance(STEP);
    const token = letterLink(bench);
    for (const wrong of ["", "000000"])
      await expect(reset(bench, token, wrong)).rejects.toEqual(failing("unauthorized"));
    expect((await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT)).kind).toBe("needs code");
    expect(bench.view(await reset(bench, token, code()))).toBeDefined();
    expect((await bench.signIns.signIn(EMAIL, "another password", CLIENT)).kind).toBe("needs code");
  });

  test("ends every session, and is worth nothing once the password or the second factor has changed", async () => {
    const bench = signInBench();
    const earlier = await bench.setPassword();
    const first = letterLink(bench);
    bench.clock.advance(1);
    await bench.security.changePassword(bench.proofOf(earlier), "changed by hand");
    await expect(reset(bench, first)).rejects.toEqual(failing("unauthorized"));
    expect(bench.db.now(() => addressOfLink("reset", first, bench.clock.now()))).toBeUndefined();
    const second = letterLink(bench);
    bench.clock.advance(1);
    const session = await reset(bench, second);
    expect([bench.view(earlier), bench.view(session)]).toEqual([undefined, expect.anything()]);
  });

  test("that is used twice at once works for one of them", async () => {
    const bench = signInBench();
    const other = signInBench({ db: openForTest(bench.db.path) });
    const token = letterLink(bench);
    const outcomes = await Promise.allSettled([
      reset(bench, token),
      reset(other, token),
      reset(bench, token),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(bench.db.prepare("SELECT count(*) FROM session").pluck().get()).toBe(1);
  });

  test("and a failed one are told to the log by their way, without address and token", async () => {
    const bench = signInBench();
    const token = letterLink(bench);
    await expect(reset(bench, "A".repeat(43))).rejects.toEqual(failing("unauthorized"));
    await reset(bench, token);
    expect(bench.lines).toMatchObject([
      { event: "sign-in.failed", by: "reset", code: "unauthorized" },
      { event: "session.started", by: "reset" },
    ]);
    expect(JSON.stringify(bench.lines)).not.toContain(token);
  });
});

describe("a link in a letter to who signs up", () => {
  const confirm = (bench: ReturnType<typeof signInBench>, token: string) =>
    bench.signIns.confirmSignUp({ token, newPassword: PASSWORD }, CLIENT);
  const letterLink = (bench: ReturnType<typeof signInBench>) =>
    bench.db.now(() => makeMailedLink("sign-up", "new@example.org", bench.clock.now()));

  test("that is used twice at once makes one account", async () => {
    const bench = signInBench();
    const token = letterLink(bench);
    const outcomes = await Promise.allSettled([confirm(bench, token), confirm(bench, token)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(bench.db.prepare("SELECT count(*) FROM account").pluck().get()).toBe(2);
  });

  test("makes no first account, which would see everything", async () => {
    const bench = signInBench();
    const token = letterLink(bench);
    bench.db.execute("DELETE FROM workspace; DELETE FROM account");
    await expect(confirm(bench, token)).rejects.toEqual(failing("unavailable"));
    expect(bench.db.prepare("SELECT count(*) FROM account").pluck().get()).toBe(0);
  });
});

describe("a password", () => {
  test("that is wrong, of an account that has none, and of no account at all are refused in the same words", async () => {
    const bench = signInBench();
    await bench.setPassword();
    bench.db.now(() => insertAccountRows("ben@example.org", NOON));
    const refused = async (email: string, password: string) => {
      const error = await bench.signIns.signIn(email, password, CLIENT).catch((thrown: unknown) => thrown);
      return { ...(error as object), message: (error as Error).message };
    };
    const wrong = await refused(EMAIL, "not the password");
    expect(wrong).toMatchObject({ code: "unauthorized" });
    expect(await refused("ben@example.org", "not the password")).toEqual(wrong);
    expect(await refused("nobody@example.org", "not the password")).toEqual(wrong);
    expect(await refused("\u0000'; --", PASSWORD)).toEqual(wrong);
  });

  test("of no account at all takes a hash as any other: it waits for those before it", async () => {
    const bench = signInBench();
    await bench.setPassword();
    const order: string[] = [];
    const attempt = (email: string, number: number) =>
      bench.signIns
        .signIn(email, "not the password", anywhere(number))
        .catch(() => undefined)
        .finally(() => order.push(email));
    await Promise.all([attempt(EMAIL, 1), attempt(EMAIL, 2), attempt("nobody@example.org", 3)]);
    expect(order[0]).toBe(EMAIL);
  });

  test("is never cut, and counts as the same however its letters are composed", async () => {
    const bench = signInBench();
    const long = `${"x".repeat(1000)} é`;
    await bench.setPassword(long);
    const same = await bench.signIns.signIn(` ${EMAIL.toUpperCase()} `, long.normalize("NFD"), CLIENT);
    expect(same.kind).toBe("signed in");
    for (const wrong of [long.slice(0, -1), `${long}x`, long.trim().slice(0, 72)])
      await expect(bench.signIns.signIn(EMAIL, wrong, CLIENT)).rejects.toEqual(failing("unauthorized"));
  });

  test("is argon2id in the file, and its text and that of the session's secret are nowhere in it", async () => {
    const bench = signInBench();
    const { cookie } = await bench.setPassword();
    const hash = bench.db.prepare("SELECT password_hash FROM credential").pluck().get();
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const files = ["", "-wal"].map((suffix) => readFileSync(bench.db.path + suffix).toString("latin1"));
    for (const secret of [PASSWORD, cookie.split(".")[1] ?? ""]) expect(files.join("")).not.toContain(secret);
  });

  test("that fails ten times from one address is refused there, also under IPv6's other addresses, and not elsewhere", async () => {
    const bench = signInBench();
    await bench.setPassword();
    const from = (address: string, password: string) =>
      bench.signIns.signIn(EMAIL, password, { ...CLIENT, address });
    const attempts = Array.from({ length: 10 }, (_, index) => from(`2001:db8:0:1::${index}`, "wrong"));
    expect(new Set((await Promise.allSettled(attempts)).map(({ status }) => status))).toEqual(
      new Set(["rejected"]),
    );
    await expect(from("2001:db8:0:1:ffff::1", PASSWORD)).rejects.toEqual(failing("rate_limited"));
    expect((await from("2001:db8:0:2::1", PASSWORD)).kind).toBe("signed in");
  });

  test("that is right signs in however often others failed: nobody is locked out", async () => {
    const bench = signInBench();
    await bench.setPassword();
    const attempts = Array.from({ length: 30 }, (_, index) =>
      bench.signIns.signIn(EMAIL, "not the password", anywhere(index)),
    );
    await Promise.allSettled(attempts);
    expect((await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT)).kind).toBe("signed in");
  });

  test("that is changed while it is hashed signs nobody in", async () => {
    const bench = signInBench();
    await bench.setPassword();
    const change = "UPDATE credential SET changed_at = changed_at + 1, password_hash = 'changed'";
    const racing: SqliteDatabase = {
      ...bench.db,
      transaction(work) {
        bench.db.execute(change);
        return bench.db.transaction(work);
      },
    };
    const slow = signInBench({ db: racing });
    await expect(slow.signIns.signIn(EMAIL, PASSWORD, CLIENT)).rejects.toEqual(failing("unauthorized"));
    expect(bench.db.prepare("SELECT count(*) FROM session").pluck().get()).toBe(1);
  });
});

describe("a second factor", () => {
  test("is asked for after the password, and no session begins before", async () => {
    const bench = signInBench();
    const { code } = await bench.setBoth();
    bench.clock.advance(STEP);
    const answer = await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT);
    if (answer.kind !== "needs code") throw new Error("no code was asked for");
    expect(bench.db.prepare("SELECT count(*) FROM session").pluck().get()).toBe(1);
    const session = await bench.signIns.giveCode(
      answer.ticket,
      ` ${code().slice(0, 3)} ${code().slice(3)}`,
      CLIENT,
    );
    expect(bench.view(session)).toMatchObject({ email: EMAIL });
  });

  test("takes each code once, also from two that come at once", async () => {
    const bench = signInBench();
    const { code } = await bench.setBoth();
    const ticket = async () => {
      const answer = await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT);
      return answer.kind === "needs code" ? answer.ticket : "";
    };
    const give = async () => bench.signIns.giveCode(await ticket(), code(), CLIENT);
    await expect(give()).rejects.toEqual(failing("unauthorized"));
    bench.clock.advance(STEP);
    const outcomes = await Promise.allSettled([give(), give()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(give()).rejects.toEqual(failing("unauthorized"));
  });

  test("takes each of ten recovery codes once, however they are typed", async () => {
    const bench = signInBench();
    const { recoveryCodes } = await bench.setBoth();
    expect(new Set(recoveryCodes).size).toBe(10);
    const give = async (code: string) => {
      const answer = await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT);
      const ticket = answer.kind === "needs code" ? answer.ticket : "";
      return bench.signIns.giveCode(ticket, code, CLIENT);
    };
    const [first = "", second = ""] = recoveryCodes;
    expect(first).toMatch(/^[a-z2-7]{4}(?:-[a-z2-7]{4}){3}$/);
    expect(bench.view(await give(first))).toBeDefined();
    await expect(give(first)).rejects.toEqual(failing("unauthorized"));
    expect(bench.view(await give(` ${second.replaceAll("-", "").toUpperCase()} `))).toBeDefined();
    const file = readFileSync(bench.db.path).toString("latin1");
    for (const each of recoveryCodes) expect(file).not.toContain(each.replaceAll("-", ""));
  });

  test("has a ticket for one sign-in and five minutes, and five codes before it pauses", async () => {
    const bench = signInBench();
    const { code } = await bench.setBoth();
    const ticket = async () => {
      const answer = await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT);
      return answer.kind === "needs code" ? answer.ticket : "";
    };
    const late = await ticket();
    bench.clock.advance(5 * MINUTE_MS);
    await expect(bench.signIns.giveCode(late, code(), CLIENT)).rejects.toEqual(failing("unauthorized"));
    const used = await ticket();
    await bench.signIns.giveCode(used, code(), CLIENT);
    bench.clock.advance(STEP);
    await expect(bench.signIns.giveCode(used, code(), CLIENT)).rejects.toEqual(failing("unauthorized"));
    const newest = await ticket();
    for (let count = 0; count < 5; count += 1)
      await expect(bench.signIns.giveCode(newest, "000000", anywhere(count))).rejects.toEqual(
        failing("unauthorized"),
      );
    await expect(bench.signIns.giveCode(newest, code(), anywhere(9))).rejects.toEqual(
      failing("rate_limited"),
    );
    // Whoever has a link is not held up by who guesses codes.
    const given = { token: bench.link(), newPassword: PASSWORD, code: code() };
    expect(bench.view(await bench.signIns.useLink(given, anywhere(10)))).toBeDefined();
  });

  test("that was removed meanwhile makes the ticket worthless", async () => {
    const bench = signInBench();
    const { code } = await bench.setBoth();
    bench.clock.advance(STEP);
    const answer = await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT);
    const ticket = answer.kind === "needs code" ? answer.ticket : "";
    const accountId = String(bench.db.prepare("SELECT account_id FROM credential").pluck().get());
    bench.db.now(() => clearTotp(accountId, bench.clock.now()));
    await expect(bench.signIns.giveCode(ticket, code(), CLIENT)).rejects.toEqual(failing("unauthorized"));
  });
});

describe("what is told", () => {
  const events = (bench: ReturnType<typeof signInBench>) =>
    bench.lines.map(({ event, by, code, address }) => ({ event, by, code, address }));

  test("the log says who signed in and that somebody failed, without addresses, passwords, codes or tokens", async () => {
    const bench = signInBench();
    const token = bench.link();
    await bench.signIns.useLink({ token, newPassword: PASSWORD, code: "" }, CLIENT);
    await bench.signIns.signIn(EMAIL, "not the password", CLIENT).catch(() => undefined);
    await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT);
    expect(events(bench)).toEqual([
      { event: "session.started", by: "link" },
      { event: "sign-in.failed", by: "password", code: "unauthorized" },
      { event: "session.started", by: "password" },
    ]);
    const text = JSON.stringify(bench.lines);
    for (const secret of [token, PASSWORD, "not the password", CLIENT.address])
      expect(text).not.toContain(secret);
    expect(bench.db.prepare("SELECT DISTINCT ip_address FROM session").pluck().all()).toEqual([null]);
  });

  test("with dashboard.logAddresses the log and the list of sessions name the address", async () => {
    const bench = signInBench({ logAddresses: true });
    await bench.setPassword();
    await bench.signIns.signIn(EMAIL, "not the password", CLIENT).catch(() => undefined);
    expect(events(bench).map(({ address }) => address)).toEqual([CLIENT.address, CLIENT.address]);
    expect(bench.db.prepare("SELECT ip_address FROM session").pluck().get()).toBe(CLIENT.address);
  });

  test("a password that a link set is in the list of changes", async () => {
    const bench = signInBench();
    await bench.setPassword();
    expect(bench.db.now(() => listChanges(9))).toMatchObject([
      { action: "account.set-password", subject: EMAIL, actor: { email: EMAIL }, detail: "by a link" },
    ]);
  });
});
