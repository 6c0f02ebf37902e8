import { expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { newTotpSecret, toBase32, totpCode } from "../../src/sessions/totp.ts";
import { CLIENT, EMAIL, PASSWORD, signInBench } from "../support/sign-in-bench.ts";

const failing = (code: string): unknown => expect.objectContaining({ code });
const STEP = 30_000;

async function signIn(bench: ReturnType<typeof signInBench>, password = PASSWORD) {
  const answer = await bench.signIns.signIn(EMAIL, password, CLIENT);
  if (answer.kind !== "signed in") throw new Error("a code was asked for");
  return answer.session;
}

test("a new password needs the present one, and ends the other sessions and not this one", async () => {
  const bench = signInBench();
  const session = await bench.setPassword();
  const other = await signIn(bench);
  const change = (password: string, next: string) =>
    bench.security.changePassword(bench.proofOf(session, password), next);
  await expect(change("not the password", "another password")).rejects.toEqual(failing("unauthorized"));
  await expect(change(PASSWORD, "too short")).rejects.toEqual(failing("usage"));
  expect(bench.view(other)).toBeDefined();
  await change(PASSWORD, "another password");
  expect([bench.view(session), bench.view(other)]).toEqual([expect.anything(), undefined]);
  await expect(signIn(bench)).rejects.toEqual(failing("unauthorized"));
  expect(bench.view(await signIn(bench, "another password"))).toBeDefined();
});

test("of two changes of the password at once, one is made and the other refused", async () => {
  const bench = signInBench();
  const session = await bench.setPassword();
  const outcomes = await Promise.allSettled(
    ["the first of both", "the other of both"].map((next) =>
      bench.security.changePassword(bench.proofOf(session), next),
    ),
  );
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a second factor needs the password and a code of its app, and ends the other sessions", async () => {
  const bench = signInBench();
  const session = await bench.setPassword();
  const other = await signIn(bench);
  const secret = newTotpSecret();
  const [text, code] = [toBase32(secret), totpCode(secret, bench.clock.now())];
  const confirm = (shown: string, given: string, password = PASSWORD) =>
    bench.security.confirmTotp(bench.proofOf(session, password), shown, given);
  await expect(confirm(text, code, "not the password")).rejects.toEqual(failing("unauthorized"));
  for (const [shown, given] of [
    [text, "000000"],
    ["", code],
    ["not base32", code],
    [toBase32(newTotpSecret()), code],
  ] as const)
    await expect(confirm(shown, given)).rejects.toEqual(failing("usage"));
  expect((await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT)).kind).toBe("signed in");
  expect(await confirm(text, code)).toHaveLength(10);
  expect([bench.view(session), bench.view(other)]).toEqual([expect.anything(), undefined]);
  expect((await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT)).kind).toBe("needs code");
  await expect(confirm(text, code)).rejects.toEqual(failing("conflict"));
});

test("the secret of the second factor is encrypted in the file", async () => {
  const bench = signInBench();
  await bench.setBoth();
  const stored = bench.db.prepare("SELECT totp_secret FROM credential").pluck().get() as Buffer;
  expect(stored.toString("latin1")).toMatch(/^enc1:/);
});

test("new recovery codes make the earlier ones worthless", async () => {
  const bench = signInBench();
  const { session, recoveryCodes } = await bench.setBoth();
  const renewed = await bench.security.renewRecoveryCodes(bench.proofOf(session));
  const give = async (code = "") => {
    const answer = await bench.signIns.signIn(EMAIL, PASSWORD, CLIENT);
    return bench.signIns.giveCode(answer.kind === "needs code" ? answer.ticket : "", code, CLIENT);
  };
  await expect(give(recoveryCodes[0])).rejects.toEqual(failing("unauthorized"));
  expect(bench.view(await give(renewed[0]))).toBeDefined();
});

test("the second factor is removed with the password, together with its recovery codes", async () => {
  const bench = signInBench();
  const { session } = await bench.setBoth();
  await expect(bench.security.removeTotp(bench.proofOf(session, "not the password"))).rejects.toEqual(
    failing("unauthorized"),
  );
  await bench.security.removeTotp(bench.proofOf(session));
  expect(bench.view(await signIn(bench))).toBeDefined();
  expect(bench.db.prepare("SELECT count(*) FROM recovery_code").pluck().get()).toBe(0);
  const { security, proofOf } = bench;
  await expect(security.removeTotp(proofOf(session))).rejects.toEqual(failing("conflict"));
  await expect(security.renewRecoveryCodes(proofOf(session))).rejects.toEqual(failing("conflict"));
});

test("guesses of the present password are limited as those of a sign-in are", async () => {
  const bench = signInBench();
  const session = await bench.setPassword();
  const guess = () => bench.security.removeTotp(bench.proofOf(session, "not the password"));
  for (let count = 0; count < 10; count += 1) await expect(guess()).rejects.toEqual(failing("unauthorized"));
  await expect(guess()).rejects.toEqual(failing("rate_limited"));
});

test("each change is in the list of changes, and the sessions that it ended are in the log", async () => {
  const bench = signInBench();
  const { session } = await bench.setBoth();
  bench.clock.advance(STEP);
  await bench.security.removeTotp(bench.proofOf(session));
  await signIn(bench);
  await bench.security.changePassword(bench.proofOf(session), "another password");
  const actions = ["account.set-password", "account.remove-totp", "account.set-totp", "account.set-password"];
  expect(bench.db.now(() => listChanges(9)).map(({ action }) => action)).toEqual(actions);
  const told = bench.lines.filter(({ event }) => event === "session.ended");
  expect(told.map(({ sessions }) => sessions)).toEqual([1]);
});

test("the owner is told of every change that was made, and of none that was refused", async () => {
  const bench = signInBench();
  const session = await bench.setPassword();
  // The first password replaces none.
  expect(bench.told).toEqual([]);
  await bench.setPassword("another password");
  const proof = () => bench.proofOf(again, "a third password");
  const again = await signIn(bench, "another password");
  await bench.security.changePassword(bench.proofOf(again, "another password"), "a third password");
  const secret = newTotpSecret();
  await bench.security.confirmTotp(proof(), toBase32(secret), totpCode(secret, bench.clock.now()));
  await bench.security.renewRecoveryCodes(proof());
  await bench.security.removeTotp(proof());
  const wrong = bench.proofOf(again, "not the password");
  await expect(bench.security.changePassword(wrong, "a fourth password")).rejects.toBeDefined();
  await expect(bench.security.removeTotp(proof())).rejects.toBeDefined();
  expect(bench.view(session)).toBeUndefined();
  expect(bench.told).toEqual([
    `account.set-password ${EMAIL}`,
    `account.set-password ${EMAIL}`,
    `account.set-totp ${EMAIL}`,
    `account.renew-codes ${EMAIL}`,
    `account.remove-totp ${EMAIL}`,
  ]);
});
