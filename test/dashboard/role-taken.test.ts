import { expect, test } from "vitest";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { EDITOR, READER } from "../support/members.ts";
import { furnish } from "../support/owner-home.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

test("whoever lost the right, or the workspace, while a form was filled in gets back what was typed, and nothing is stored", async () => {
  const server = await startServer();
  await visit(server, "operator@example.com");
  const ada = await furnish(server, "ada@example.com");
  const eve = await visit(server, "eve@example.com");
  const place = { workspaceId: ada.workspaceId, accountId: eve.accountId };
  const join = (membership: typeof EDITOR) =>
    server.owner.transaction(() => storeMember(place, membership, { since: 1, byAccountId: null }));
  await join(EDITOR);
  const path = `/dashboard/submissions/${ada.submissionIds[0] ?? ""}/notes`;
  const form = { text: "Called her, she wants it on Friday" };
  const send = async () => {
    const { status, text } = await eve.post(path, form);
    return { status, hasText: text.includes(form.text) };
  };
  await join(READER);
  expect(await send()).toEqual({ status: 403, hasText: true });
  server.owner.prepare("DELETE FROM member WHERE account_id = ?").run(eve.accountId);
  expect(await send()).toEqual({ status: 404, hasText: true });
  expect(server.owner.prepare("SELECT count(*) FROM submission_note").pluck().get()).toBe(0);
});
