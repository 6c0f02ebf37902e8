import { expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { listMarks } from "../../src/history/teach.ts";
import { markSubmissions } from "../../src/submissions/stored/mark-submission.ts";
import { listRead } from "../../src/submissions/stored/read-marks.ts";
import { addSubmission } from "../support/add-submission.ts";
import { addFormOwner } from "../support/form-owner.ts";
import { type ConfigOverrides, startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

/** Ada is the operator; Ben and Cleo own a workspace each, Ben's with three submissions and Cleo's with one. */
async function world(settings: ConfigOverrides = {}) {
  const server = await startServer(settings);
  await visit(server);
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  const add = (endpointId: string, message: string) =>
    addSubmission(server.owner, {
      endpointId,
      data: { message, email: "x@example.org" },
      createdAt: server.clock.now(),
    });
  const ids = ["one", "two", "three"].map((message) => add(ben.endpoint.id, `This is number ${message}`));
  return { server, ben, cleo, ids, add, others: add(cleo.endpoint.id, "Of somebody else") };
}

/** What a form with these ticked rows sends. */
function ticked(deed: string, ids: readonly string[], more: Record<string, string> = {}): URLSearchParams {
  return new URLSearchParams([["do", deed], ...ids.map((id) => ["id", id]), ...Object.entries(more)]);
}

test("ticked rows are marked, unmarked, read and unread, and the page of before says so", async () => {
  const { server, ben, ids } = await world();
  const [one = "", two = ""] = ids;
  const done = await ben.post("/dashboard/bulk?q=number&before=sub_x", ticked("spam", [one, two]));
  expect([done.status, done.headers["location"]]).toEqual([
    303,
    `/dashboard?q=number&before=sub_x&notice=did-spam&n=2&undo=${one}.${two}`,
  ]);
  expect([...server.owner.now(() => listMarks(ids))]).toEqual([
    [one, "spam"],
    [two, "spam"],
  ]);
  const told = (await ben.get(done.headers["location"] ?? "")).text;
  expect(told).toContain("2 submissions marked as spam.");
  expect(told).toContain('<button class="small" name="do" value="none">Undo</button>');
  expect((await ben.get("/dashboard")).text.match(/marked spam/g)).toHaveLength(2);
  // Whoever marks spam has seen it.
  expect(server.owner.now(() => listRead(ben.accountId, ids))).toEqual(new Set([one, two]));
  await ben.post("/dashboard/bulk", ticked("ham", [two]));
  await ben.post("/dashboard/bulk", ticked("none", [one]));
  expect([...server.owner.now(() => listMarks(ids))]).toEqual([[two, "ham"]]);
  await ben.post("/dashboard/bulk", ticked("read", ids));
  expect(server.owner.now(() => listRead(ben.accountId, ids)).size).toBe(3);
  await ben.post("/dashboard/bulk", ticked("unread", [one]));
  expect(server.owner.now(() => listRead(ben.accountId, ids))).toEqual(new Set([two, ids[2]]));
});

test("Undo gives each submission back what it had before: a mark, or that it was done", async () => {
  const { server, ben, ids } = await world();
  const [one = "", two = "", three = ""] = ids;
  const press = async (to: string | undefined) => {
    const { text } = await ben.get(to ?? "");
    const [form = ""] = /<form class="notice undo"[^]*?<\/form>/.exec(text) ?? [];
    const sent = [...form.matchAll(/name="(\w+)" value="(\w+)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    return await ben.post("/dashboard/bulk", new URLSearchParams(sent));
  };
  const marks = () => Object.fromEntries(server.owner.now(() => listMarks(ids)));
  await ben.post("/dashboard/bulk", ticked("ham", [one]));
  await ben.post("/dashboard/bulk", ticked("spam", [two]));
  const marked = await ben.post("/dashboard/bulk", ticked("spam", ids));
  expect(marks()).toEqual({ [one]: "spam", [two]: "spam", [three]: "spam" });
  const restored = await press(marked.headers["location"]);
  expect([restored.headers["location"], marks()]).toEqual([
    "/dashboard?notice=did-restore&n=2",
    { [one]: "ham", [two]: "spam" },
  ]);
  expect((await ben.get(restored.headers["location"] ?? "")).text).toContain(
    "The marks of 2 submissions are as before.",
  );
  const again = await ben.post("/dashboard/bulk", ticked("spam", [two]));
  expect((await ben.get(again.headers["location"] ?? "")).text).not.toContain(">Undo<");
  const alone = await ben.post("/dashboard/bulk", ticked("spam", [one]));
  await press(alone.headers["location"]);
  expect(marks()).toEqual({ [one]: "ham", [two]: "spam" });

  const done = () =>
    server.owner.prepare("SELECT id FROM submission_work WHERE state = 'done'").pluck().all();
  await ben.post("/dashboard/bulk", ticked("done", [one]));
  await press((await ben.post("/dashboard/bulk", ticked("done", ids))).headers["location"]);
  expect(done()).toEqual([one]);
});

test("a page of rows is marked ten at a time, so that posts need not wait for all of them", async () => {
  const { server, ben, add } = await world();
  const ids = Array.from({ length: 25 }, (_, index) => add(ben.endpoint.id, `Message ${index}`));
  const done = await ben.post("/dashboard/bulk", ticked("spam", ids));
  expect(done.headers["location"]).toBe(`/dashboard?notice=did-spam&n=25&undo=${ids.join(".")}`);
  expect(server.owner.now(() => listMarks(ids)).size).toBe(25);
  const told = server.owner.now(() => listChanges(10)).map(({ detail }) => detail);
  expect(told).toEqual(["5 marked spam", "10 marked spam", "10 marked spam"]);
});

test("a mark on the page leaves the same rows as the command's", async () => {
  const { server, ben, ids } = await world();
  const { owner, clock } = server;
  const rows = (): unknown => [
    owner
      .prepare(
        "SELECT workspace_id, submission_id, mark, email, text_id, hex(buckets), odds FROM lesson ORDER BY submission_id",
      )
      .all(),
    owner.prepare("SELECT hex(weights) FROM learned_weights").all(),
    owner.prepare("SELECT marked_spam, marked_ham FROM remembered_text").all(),
  ];
  await ben.post("/dashboard/bulk", ticked("spam", ids));
  const byPage = rows();
  owner.now(() => markSubmissions(ids, { mark: null }, clock.now()));
  for (const table of ["lesson", "remembered_text", "learned_weights"]) owner.execute(`DELETE FROM ${table}`);
  owner.now(() => markSubmissions(ids, { mark: "spam" }, clock.now()));
  const textless = (value: unknown): string => JSON.stringify(value).replace(/"text_id":\d+/g, "");
  expect(textless(rows())).toBe(textless(byPage));
});

test("without a bin, deleting asks first, and then deletes all or none", async () => {
  const { server, ben, ids, others } = await world({ submissions: { binDays: 0 } });
  const left = (): number => Number(server.owner.prepare("SELECT count(*) FROM submission").pluck().get());
  const asked = await ben.post("/dashboard/bulk?class=low", ticked("delete", ids));
  expect([asked.status, left()]).toEqual([200, 4]);
  expect(asked.text).toContain("Delete these 3 submissions for good?");
  expect(asked.text.match(/<li><bdi>x@example.org<\/bdi><\/li>/g)).toHaveLength(3);
  expect(asked.text).toContain('action="/dashboard/bulk?class=low"');
  const mixed = await ben.post("/dashboard/bulk", ticked("delete", [...ids, others], { confirmed: "yes" }));
  expect([mixed.status, left()]).toEqual([404, 4]);
  const done = await ben.post("/dashboard/bulk?class=low", ticked("delete", ids, { confirmed: "yes" }));
  expect([done.headers["location"], left()]).toEqual(["/dashboard?class=low&notice=did-purge&n=3", 1]);
});

test("what is deleted comes into the bin, from which the notice, pressed twice too, and the bin bring it back", async () => {
  const { server, ben, ids, others } = await world();
  const binned = (): unknown[] =>
    server.owner.prepare("SELECT id FROM submission_bin ORDER BY id").pluck().all();
  const mixed = await ben.post("/dashboard/bulk", ticked("delete", [...ids, others]));
  expect([mixed.status, binned()]).toEqual([404, []]);
  const done = await ben.post("/dashboard/bulk?q=number", ticked("delete", ids));
  const next = done.headers["location"] ?? "";
  expect([next, binned()]).toEqual([
    `/dashboard?q=number&notice=did-delete&n=3&undo=${ids.join(".")}`,
    ids.toSorted(),
  ]);
  const shown = await ben.get(next);
  expect(shown.text).toContain("3 submissions moved to the bin.");
  const action = "/dashboard/bulk?q=number";
  expect(shown.text).toContain(`class="notice undo" method="post" action="${action}"`);
  expect(shown.text).toContain('<button class="small" name="do" value="undelete">Undo</button>');
  const undone = await ben.post(action, ticked("undelete", ids));
  expect([undone.headers["location"], binned()]).toEqual(["/dashboard?q=number&notice=did-undelete&n=3", []]);
  const changes = () => server.owner.prepare("SELECT count(*) FROM audit_event").pluck().get();
  const before = changes();
  const twice = await ben.post(action, ticked("undelete", ids));
  expect([twice.headers["location"], changes()]).toEqual([undone.headers["location"], before]);
  expect((await ben.post(action, ticked("undelete", [...ids, others]))).status).toBe(404);
  await ben.post("/dashboard/bulk", ticked("delete", ids));
  const [one = "", two = ""] = ids;
  const bin = await ben.get("/dashboard?deleted=1");
  expect(bin.text.match(/data-submission="sub_/g)).toHaveLength(3);
  expect(bin.text).not.toContain("/dashboard/export");
  expect((await ben.get("/dashboard/export.csv?deleted=1")).status).toBe(400);
  expect((await ben.get(`/dashboard/submissions/${one}`)).text).toMatch(
    /In the bin since <time [^>]*data-time="exact">[^<]*<\/time>\. It is deleted for good on <time /,
  );
  await ben.post("/dashboard/bulk?deleted=1", ticked("undelete", [one]));
  expect((await ben.post("/dashboard/bulk?deleted=1", ticked("purge", [two]))).text).toContain("for good?");
  const purged = await ben.post("/dashboard/bulk?deleted=1", ticked("purge", [two], { confirmed: "yes" }));
  expect(purged.headers["location"]).toBe("/dashboard?deleted=1&notice=did-purge&n=1");
  expect((await ben.post("/dashboard/empty-bin?deleted=1", {})).text).toContain("Empty the bin?");
  expect(binned()).toEqual(ids.slice(2));
  await ben.post("/dashboard/empty-bin?deleted=1", { confirmed: "yes" });
  expect(binned()).toEqual([]);
  expect(server.owner.prepare("SELECT id FROM submission ORDER BY id").pluck().all()).toEqual(
    [one, others].toSorted(),
  );
});

test("what somebody has put into the bin meanwhile is left out, and the rest is done", async () => {
  const { server, ben, cleo, ids, others } = await world();
  const [one = "", two = "", three = ""] = ids;
  await ben.post("/dashboard/bulk", ticked("delete", [one]));
  const spam = await ben.post("/dashboard/bulk", ticked("spam", ids));
  expect([spam.status, spam.headers["location"]]).toEqual([
    303,
    `/dashboard?notice=did-spam&n=2&undo=${two}.${three}`,
  ]);
  const late = await ben.post(`/dashboard/bulk?on=${one}`, ticked("done", [one]));
  expect([late.status, late.headers["location"]]).toEqual([303, "/dashboard?notice=in-bin&n=1"]);
  expect((await ben.get(late.headers["location"] ?? "")).text).toContain(
    "the submission is in the bin already",
  );
  // Somebody else's is like one that does not exist, in the bin too.
  await cleo.post("/dashboard/bulk", ticked("delete", [others]));
  expect((await ben.post("/dashboard/bulk", ticked("done", [two, others]))).status).toBe(404);
  expect(server.owner.prepare("SELECT count(*) FROM submission_bin").pluck().get()).toBe(2);
});

test("submissions are marked done, opened again and assigned, one or many, and filtered by it", async () => {
  const { server, ben, ids, cleo } = await world();
  const [one = "", two = "", three = ""] = ids;
  const done = await ben.post(`/dashboard/bulk?on=${one}`, ticked("done", [one]));
  expect(done.headers["location"]).toBe(`/dashboard/submissions/${one}?notice=did-done&n=1&undo=${one}`);
  const told = (await ben.get(done.headers["location"] ?? "")).text;
  expect(told).toContain('<span class="pill done">done</span>');
  expect(told).toContain('<button class="small" name="do" value="open">Undo</button>');
  const inbox = (await ben.get("/dashboard")).text;
  for (const key of ['value="done" data-key="e"', 'value="assign" data-key="a"'])
    expect(inbox).toContain(`<button name="do" ${key}>`);
  const asked = await ben.post("/dashboard/bulk", ticked("assign", [one, two]));
  expect([asked.status, asked.text]).toEqual([200, expect.stringContaining("ben@example.org (you)")]);
  expect(asked.text).not.toContain("cleo@example.org");
  const stranger = await ben.post("/dashboard/bulk", ticked("assign", [one], { assignee: cleo.accountId }));
  expect(stranger.status).toBe(400);
  await ben.post("/dashboard/bulk", ticked("assign", [one], { assignee: ben.accountId }));
  await ben.post("/dashboard/bulk", ticked("assign", [two], { assignee: "me" }));
  const listed = async (query: string): Promise<string[]> =>
    [...(await ben.get(`/dashboard?${query}`)).text.matchAll(/data-submission="(sub_\w+)"/g)].map(
      ([, id = ""]) => id,
    );
  expect(await listed("state=done")).toEqual([one]);
  expect(await listed("state=open")).toEqual([three, two]);
  expect(await listed("assignee=me")).toEqual([two, one]);
  expect(await listed("assignee=ben@example.org&state=open")).toEqual([two]);
  expect(await listed("assignee=none")).toEqual([three]);
  expect((await ben.get("/dashboard?state=shut")).status).toBe(400);
  const exported = JSON.parse((await ben.get("/dashboard/export.json?state=done")).text) as unknown;
  expect(exported).toMatchObject([{ id: one, state: "done", assignee: { email: "ben@example.org" } }]);
  await ben.post("/dashboard/bulk", ticked("open", [one]));
  expect(await listed("state=done")).toEqual([]);
  expect(server.owner.prepare("SELECT count(*) FROM submission_note").pluck().get()).toBe(0);
});

test("a note is added on the page of its submission, and a refused one is shown again as it was typed", async () => {
  const { server, ben, ids, others } = await world();
  const [one = ""] = ids;
  const added = await ben.post(`/dashboard/submissions/${one}/notes`, { text: "call <b>back</b>" });
  expect(added.headers["location"]).toBe(`/dashboard/submissions/${one}?notice=noted`);
  const shown = await ben.get(`/dashboard/submissions/${one}`);
  // Who presses twice on a slow line sends the same form twice.
  const [, mark = ""] = /name="form_mark" value="([^"]+)"/.exec(shown.text) ?? [];
  const twice = [1, 2, 3].map(() =>
    ben.post(`/dashboard/submissions/${one}/notes`, { text: "pressed twice", form_mark: mark }),
  );
  expect(new Set((await Promise.all(twice)).map(({ status }) => status))).toEqual(new Set([303]));
  const notes = "SELECT count(*) FROM submission_note WHERE text = 'pressed twice'";
  expect(server.owner.prepare(notes).pluck().get()).toBe(1);
  expect(shown.text).toContain("call &lt;b&gt;back&lt;/b&gt;");
  const long = "x".repeat(2001);
  const refused = await ben.post(`/dashboard/submissions/${one}/notes`, { text: long });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(long)]);
  expect((await ben.post(`/dashboard/submissions/${others}/notes`, { text: "x" })).status).toBe(404);
});

test("another workspace's submission is answered like one that does not exist, by each of the buttons", async () => {
  const { server, ben, others } = await world();
  for (const deed of [
    "spam",
    "ham",
    "none",
    "read",
    "unread",
    "done",
    "assign",
    "delete",
    "undelete",
    "purge",
  ]) {
    const [foreign, unknown] = [
      await ben.post("/dashboard/bulk", ticked(deed, [others])),
      await ben.post("/dashboard/bulk", ticked(deed, ["sub_01h455vb4pex5vsknk084sn02q"])),
    ];
    expect([foreign.status, unknown.status], deed).toEqual([404, 404]);
    const bare = ({ text }: { text: string }) =>
      text.replace(/sub_\w+/g, "ID").replace(/Request <code>[^<]*/, "");
    expect(bare(foreign)).toBe(bare(unknown));
  }
  const rows = ["lesson", "submission_read", "audit_event"].map((table) =>
    server.owner.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  );
  expect(rows).toEqual([0, 0, 0]);
});

test("each change is recorded with who made it, to what; reading is nobody's business", async () => {
  const { server, ben, ids } = await world();
  await ben.post("/dashboard/bulk", ticked("spam", ids.slice(0, 2)));
  await ben.post("/dashboard/bulk", ticked("read", ids));
  await ben.post("/dashboard/bulk", ticked("delete", ids.slice(2), { confirmed: "yes" }));
  const workspaceId = ben.endpoint.workspaceId;
  expect(server.owner.now(() => listChanges(10))).toMatchObject([
    {
      action: "submission.delete",
      subject: ids[2],
      detail: "1 deleted",
      workspaceId,
      actor: { email: "ben@example.org" },
    },
    { action: "submission.mark", subject: `${ids[0]} ${ids[1]}`, detail: "2 marked spam", workspaceId },
  ]);
});

test("a form without rows, without a deed or with too many rows changes nothing and says so", async () => {
  const { ben, ids } = await world();
  expect((await ben.post("/dashboard/bulk", ticked("spam", []))).headers["location"]).toBe(
    "/dashboard?notice=none-selected",
  );
  expect((await ben.post("/dashboard/bulk", ticked("toString", ids))).status).toBe(400);
  const many = await ben.post(
    "/dashboard/bulk",
    ticked(
      "spam",
      Array.from({ length: 51 }, (_, index) => `sub_${index}`),
    ),
  );
  expect([many.status, many.text.includes("Select at most 50 submissions at once.")]).toEqual([400, true]);
  expect((await ben.post("/dashboard/bulk?on=//evil.example", ticked("read", ids))).headers["location"]).toBe(
    "/dashboard?notice=did-read&n=3",
  );
});
