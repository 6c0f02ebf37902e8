import { expect, test } from "vitest";
import { run, text } from "../../src/database/steps.ts";
import { listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import { submissionAdder } from "../support/add-submission.ts";
import { unescaped } from "../support/page.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { applicationSchema, pdf, postFiles } from "../support/uploads.ts";
import { visit } from "../support/visitor.ts";

const PATH = "/dashboard/usage";

/** Counts posts of a workspace in a month. */
function count({ owner }: TestServer, workspaceId: string, month: string, used: number): void {
  owner.now(() =>
    run(
      text(
        "INSERT OR REPLACE INTO usage (workspace_id, month, used) VALUES (?, ?, ?)",
        workspaceId,
        month,
        used,
      ),
    ),
  );
}

/** What a page says, without its markup. */
const wordsOf = (page: string): string => unescaped(page.replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ");

test("usage is told month by month against the plan, with what remains and what happens at the limit", async () => {
  const server = await startServer({ plans: { hobby: { monthlySubmissions: 1000 } }, held: { days: 12 } });
  const ada = await visit(server);
  const { workspaceId, secret } = await server.addEndpoint();
  const [month = "", before = ""] = [0, 1].map((back) => monthBefore(server.clock.now(), back));
  count(server, workspaceId, before, 1000);
  count(server, workspaceId, month, 1);
  await server.post(secret, goodPost);
  const words = wordsOf((await ada.get(PATH)).text);
  expect(words).toContain("2 of 1,000 posts");
  expect(words).toContain("998 posts remain until the end of the month.");
  expect(words).toContain("From 80 % (800) on");
  expect(words).toContain("Plan Hobby");
  expect(words).toContain("held for 12 days");
  expect(words).toContain("1,000 100 %");
  count(server, workspaceId, month, 1000);
  expect(wordsOf((await ada.get(PATH)).text)).toContain(
    "The limit is reached: new posts are held until next month",
  );
});

function monthBefore(now: number, months: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1)).toISOString().slice(0, 7);
}

test("posts are counted by endpoint and month, of this workspace alone", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const [one, other] = [await server.addEndpoint(), await server.addEndpoint()];
  const add = submissionAdder(server.owner);
  const now = server.clock.now();
  const lastMonth = Date.parse(`${monthBefore(now, 1)}-01T00:00:00Z`);
  server.owner.transactionNow(() => {
    // Several slices, and the first and last millisecond of the month.
    for (let index = 0; index < 10_001; index += 1) add({ endpointId: one.id, createdAt: now - index });
    for (const at of [lastMonth, Date.parse(`${monthBefore(now, 0)}-01T00:00:00Z`) - 1])
      add({ endpointId: other.id, createdAt: at });
    add({ endpointId: other.id, createdAt: lastMonth - 1 });
  });
  const rows = (page: string) =>
    [...page.matchAll(/endpoints\/(ep_\w+)"[\s\S]*?<td class="right num">\s*([\d,]+)/g)].map(
      ([, id, posts]) => [id, posts],
    );
  expect(rows((await ada.get(PATH)).text)).toEqual([
    [one.id, "10,001"],
    [other.id, "0"],
  ]);
  expect(rows((await ada.get(`${PATH}?month=${monthBefore(now, 1)}`)).text)).toEqual([
    [other.id, "2"],
    [one.id, "0"],
  ]);
  expect((await ada.get(`${PATH}?month=2026-13%22`)).status).toBe(200);
});

test("the files of each form are counted, and those of the workspace against the room of its plan", async () => {
  const server = await startServer({ plans: { hobby: { fileBytes: 100_000 } } });
  const ada = await visit(server);
  const [one, other] = [
    await server.addEndpoint({ schema: applicationSchema }),
    await server.addEndpoint({ schema: applicationSchema }),
  ];
  const plain = await server.addEndpoint();
  expect((await ada.get(PATH)).text).not.toContain("Files");
  const send = (secret: string, size: number) =>
    postFiles(server, secret, [
      ["name", "Ana"],
      ["cv", { name: "cv.pdf", bytes: pdf(size) }],
    ]);
  await send(one.secret, 20_480);
  await send(one.secret, 20_480);
  const { id, files } = await send(other.secret, 2048);
  const page = (await ada.get(PATH)).text;
  expect(wordsOf(page)).toContain("Files 42 KB of 98 KB");
  const rows = (text: string) =>
    [...text.matchAll(/endpoints\/(ep_\w+)"(?:[\s\S]*?<td class="right num">\s*([^<]+?)\s*<){2}/g)].map(
      ([, id, bytes]) => [id, bytes],
    );
  expect(new Map(rows(page) as [string, string][])).toEqual(
    new Map([
      [one.id, "40 KB"],
      [other.id, "2 KB"],
      [plain.id, "0 bytes"],
    ]),
  );
  const deletion = `/dashboard/submissions/${id}/files/${files[0]?.id}/delete`;
  expect((await ada.post(deletion, {})).status).toBe(303);
  expect(wordsOf((await ada.get(PATH)).text)).toContain("Files 40 KB of 98 KB");
});

test("another's workspace is like one that does not exist", async () => {
  const server = await startServer();
  await visit(server);
  const bob = await visit(server, "bob@example.com");
  const [adas, bobs] = server.owner.now(() => listWorkspaces());
  expect((await bob.get(`${PATH}?workspace=${bobs?.id}`)).status).toBe(200);
  for (const id of [adas?.id, "ws_00000000000000000000000000", '"><script>']) {
    expect((await bob.get(`${PATH}?workspace=${encodeURIComponent(id ?? "")}`)).status).toBe(404);
  }
  expect((await bob.get(PATH)).text).not.toContain(adas?.id);
});

test("a plan that the configuration has no more breaks no page", async () => {
  const server = await startServer();
  const ada = await visit(server);
  await server.addEndpoint();
  server.owner.now(() => run(text("UPDATE workspace SET plan = '<b>gone'")));
  expect(wordsOf((await ada.get(PATH)).text)).toContain("Plan <b>gone");
});
