import { expect, test } from "vitest";
import { renameAccount } from "../../src/workspaces/account-operations.ts";
import { renameWorkspace } from "../../src/workspaces/workspace-operations.ts";
import { threeOwners } from "../support/actors.ts";
import { rowsOf, write } from "../support/engines.ts";
import { performOn } from "../support/terminal.ts";

const changes = (db: Parameters<typeof rowsOf>[0]) =>
  rowsOf<{ detail: string }>(db, "SELECT detail FROM audit_event WHERE action LIKE '%.rename' ORDER BY id");

test("an owner renames their own workspace, and both names are on record", async () => {
  const { db, ben, cleo } = await threeOwners();
  const rename = (workspace: string, name: string) =>
    performOn(db, renameWorkspace, { workspace, name }, { actor: ben.actor });
  expect((await rename(ben.workspace, " Bakery ")).workspace).toMatchObject({
    id: ben.workspace,
    name: "Bakery",
  });
  await rename(ben.workspace, "Bakery");
  expect(await changes(db)).toEqual([{ detail: "ben → Bakery" }]);
  await expect(rename(cleo.workspace, "Mine")).rejects.toMatchObject({ code: "not_found" });
  for (const name of ["", " ", "a\u0000b", "x".repeat(201)])
    await expect(rename(ben.workspace, name)).rejects.toMatchObject({ code: "usage" });
  expect(await changes(db)).toHaveLength(1);
});

test("an operator gives an account another address, which no other account has and nobody has proved", async () => {
  const { db, ada, ben } = await threeOwners();
  await write(db, "UPDATE account SET email_proved_at = 1");
  const rename = (account: string, email: string, actor = ada.actor) =>
    performOn(db, renameAccount, { account, email }, { actor });
  await expect(rename("ben@example.com", "x@example.com", ben.actor)).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(rename("ben@example.com", "CLEO@example.com")).rejects.toMatchObject({
    code: "already_exists",
  });
  for (const email of ["", "ben", "a b@example.com", "ben@exa\nmple.com"])
    await expect(rename("ben@example.com", email), email).rejects.toMatchObject({ code: "usage" });
  expect((await rename("ben@example.com", "Ben@example.org")).account).toMatchObject({
    email: "Ben@example.org",
  });
  const row = await rowsOf(db, "SELECT email, email_proved_at FROM account WHERE email LIKE 'Ben@%'");
  expect(row).toEqual([{ email: "Ben@example.org", email_proved_at: null }]);
  expect(await changes(db)).toEqual([{ detail: "ben@example.com → Ben@example.org" }]);
  // The same address in another case is the same account's.
  expect((await rename("ben@example.org", "ben@example.org")).account.email).toBe("ben@example.org");
});
