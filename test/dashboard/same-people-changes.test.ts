import { expect, test } from "vitest";
import { mailRecipientOperations } from "../../src/mail/recipients/recipient-operations.ts";
import { webhookOperations } from "../../src/webhooks/webhook-operations.ts";
import { noteDoubt } from "../../src/workspaces/proved-email.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { addMember, READER } from "../support/members.ts";
import { begin, countRows, sameChanges, sending } from "../support/same-changes.ts";
import { performOn } from "../support/terminal.ts";

/*
 * A page, a command and a request to the API that make the same change of members, work on submissions, and the names, owners, places and
 * ends of things leave the same rows, with the record of it; only who did it differs.
 */

const ADA = "ada@example.com";
const BEN = "ben@example.com";
const GUEST = "guest@example.org";

test("members are invited, let go again, bound to forms, given a role and removed", async () => {
  const { server, home } = await begin();
  const { workspaceId: id, endpointId } = home;
  const { accountId: ben } = await addMember(server.owner, id, BEN, READER);
  const members = `/dashboard/members?workspace=${id}`;
  const path = `/dashboard/workspaces/${id}/members`;
  const api = `/workspaces/${id}/members`;
  const rows = await sameChanges(server, [
    [
      "member.invite",
      sending(members, { email: GUEST, of: "some", endpoint: endpointId, export: "" }, path, 201),
      [
        "member",
        "invite",
        GUEST,
        "--workspace",
        id,
        "--role",
        "reader",
        "--endpoint",
        endpointId,
        "--no-export",
      ],
      ["POST", api, { email: GUEST, role: "reader", endpoints: [endpointId], export: false }],
    ],
    [
      "member.invite",
      sending(members, { email: "new@example.org", role: "owner" }, path, 201),
      ["member", "invite", "new@example.org", "--workspace", id, "--role", "owner"],
      ["POST", api, { email: "new@example.org", role: "owner" }],
    ],
    [
      "member.withdraw",
      async (visitor) => {
        expect((await visitor.post(`${path}/withdraw`, { email: GUEST })).status).toBe(303);
      },
      ["member", "remove", GUEST, "--workspace", id, "--yes"],
      ["DELETE", `${api}/${GUEST}`],
    ],
    [
      "member.set",
      sending(`${path}/${ben}`, { of: "some", endpoint: endpointId, spam_details: "" }),
      ["member", "set", BEN, "--workspace", id, "--endpoint", endpointId, "--no-spam-details"],
      ["PATCH", `${api}/${BEN}`, { endpoints: [endpointId], spam_details: false }],
    ],
    [
      "member.set",
      sending(`${path}/${ben}`, { role: "editor", of: "all" }),
      ["member", "set", BEN, "--workspace", id, "--role", "editor", "--all-endpoints"],
      ["PATCH", `${api}/${BEN}`, { role: "editor", endpoints: null }],
    ],
  ]);
  expect(countRows(rows, new RegExp(`^member .*${ben}.*"role":"editor","endpoints":null`))).toBe(1);
  expect(countRows(rows, /^invitation .*new@example\.org.*"role":"owner"/)).toBe(1);
  const left = await sameChanges(server, [
    [
      "member.remove",
      sending(`${path}/${ben}`, {}, `${path}/${ben}/remove`),
      ["member", "remove", BEN, "--workspace", id, "--yes"],
      ["DELETE", `${api}/${BEN}`],
    ],
  ]);
  expect(countRows(left, new RegExp(`^member .*${id}.*${ben}`))).toBe(0);
});

test("a submission is assigned, closed and noted, goes into the bin, and the bin is emptied", async () => {
  const { server, home } = await begin();
  const [id = ""] = home.submissionIds;
  const on = `/dashboard/bulk?on=${id}`;
  const page = `/dashboard/submissions/${id}`;
  const rows = await sameChanges(server, [
    [
      "submission.set",
      sending(page, { do: "assign", assignee: "me" }, on),
      ["submission", "set", id, "--assignee", ADA],
      ["POST", "/submissions/set", { submissions: [id], assignee: "me" }],
    ],
    [
      "submission.set",
      sending(page, { do: "done" }, on),
      ["submission", "set", id, "--state", "done"],
      ["POST", "/submissions/set", { submissions: [id], state: "done" }],
    ],
    [
      "submission.note",
      sending(page, { text: "Called back" }, `${page}/notes`),
      ["submission", "note", id, "Called back"],
      ["POST", `/submissions/${id}/notes`, { text: "Called back" }],
    ],
    [
      "submission.delete",
      sending(page, { do: "delete" }, on),
      ["submission", "delete", id, "--yes"],
      ["POST", "/submissions/delete", { submissions: [id] }],
    ],
  ]);
  expect(countRows(rows, /^submission_work .*"state":"done".*acct_/)).toBe(1);
  expect(countRows(rows, /^submission_note .*Called back/)).toBe(1);
  await performOn(server.owner, webhookOperations.delete, { webhook: home.webhookId });
  await performOn(server.owner, mailRecipientOperations.delete, { recipient: home.mailRecipientId });
  server.owner.execute(`INSERT INTO submission_bin (id, endpoint_number, deleted_at)
    SELECT id, endpoint_number, ${Date.now()} FROM submission WHERE id = '${id}'`);
  const left = await sameChanges(server, [
    [
      "submission.empty-bin",
      async (visitor) => {
        expect((await visitor.post("/dashboard/empty-bin?deleted=1", { confirmed: "yes" })).status).toBe(303);
      },
      ["submission", "empty-bin", "--yes"],
      ["POST", "/submissions/empty-bin", {}],
    ],
  ]);
  expect(countRows(left, /^submission_bin /)).toBe(0);
});

test("a form moves, a workspace is renamed, handed over and deleted, an account is vouched for, renamed and deleted", async () => {
  const { server, home } = await begin();
  const { owner } = server;
  const ben = owner.now(() => insertAccountRows(BEN, Date.now()));
  owner.now(() => noteDoubt(ben.account.id));
  const moved = `/dashboard/endpoints/${home.endpointId}`;
  const workspace = `/dashboard/workspaces/${ben.workspace.id}`;
  const account = `/dashboard/system/accounts/${ben.account.id}`;
  const api = `/workspaces/${ben.workspace.id}`;
  const renamed = "ben@example.org";
  const rows = await sameChanges(server, [
    [
      // In the workspace that it leaves, and in the one that it comes to.
      "endpoint.move endpoint.move",
      sending(moved, { to: ben.workspace.id }, `${moved}/move`),
      ["endpoint", "move", home.endpointId, "--to", ben.workspace.id],
      ["POST", `/endpoints/${home.endpointId}/move`, { to: ben.workspace.id }],
    ],
    [
      "workspace.rename",
      sending(workspace, { name: "Client sites" }),
      ["workspace", "rename", ben.workspace.id, "Client sites"],
      ["PATCH", api, { name: "Client sites" }],
    ],
    [
      "workspace.transfer",
      sending(workspace, { to: ADA, stay: "editor" }, `${workspace}/transfer`),
      ["workspace", "transfer", ben.workspace.id, "--to", ADA, "--stay", "editor", "--yes"],
      ["POST", `${api}/transfer`, { to: ADA, stay: "editor" }],
    ],
    [
      "account.vouch",
      sending(account, {}, `${account}/vouch`),
      ["account", "vouch", BEN, "--yes"],
      ["POST", `/accounts/${BEN}/vouch`, {}],
    ],
    [
      "account.rename",
      sending(account, { email: renamed }, `${account}/address`),
      ["account", "rename", BEN, renamed],
      ["POST", `/accounts/${BEN}/rename`, { email: renamed }],
    ],
  ]);
  expect(countRows(rows, new RegExp(`^workspace .*${ben.workspace.id}.*Client sites`))).toBe(1);
  expect(countRows(rows, new RegExp(`^endpoint .*${ben.workspace.id}`))).toBe(1);
  expect(countRows(rows, new RegExp(`^member .*${ben.account.id}.*"role":"editor"`))).toBe(1);
  expect(countRows(rows, /^account .*ben@example\.org/)).toBe(1);
  owner.execute(`UPDATE workspace SET account_id = '${home.accountId}' WHERE id = '${ben.workspace.id}';
    UPDATE member SET account_id = '${home.accountId}' WHERE workspace_id = '${ben.workspace.id}'`);
  const left = await sameChanges(server, [
    [
      "account.delete",
      sending(account, { confirm: BEN }, `${account}/delete`),
      ["account", "delete", BEN, "--yes"],
      ["DELETE", `/accounts/${BEN}`],
    ],
    [
      "workspace.delete",
      sending(workspace, { confirm: ben.workspace.name }, `${workspace}/delete`),
      ["workspace", "delete", ben.workspace.id, "--yes"],
      ["DELETE", api],
    ],
  ]);
  expect(
    countRows(left, new RegExp(`^(?:account|workspace|member) .*(?:${ben.account.id}|${ben.workspace.id})`)),
  ).toBe(0);
});
