import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { MAX_IMPORT_BYTES } from "../../src/submissions/import/import-spool.ts";
import { storeMember } from "../../src/workspaces/member-store.ts";
import type { FormOwner } from "../support/form-owner.ts";
import { HOSTILE_TEXTS } from "../support/hostile-values.ts";
import { counts, openImport, openSpools, sendFile, table } from "../support/import-file.ts";
import { READER } from "../support/members.ts";
import { formsIn } from "../support/page-forms.ts";
import type { TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

test("a file is looked at before anything is stored, then imported as it was shown, and twice makes no doubles", async () => {
  const { server, shown, choose, press, ben, address } = await openImport();
  expect(await shown()).toContain('enctype="multipart/form-data"');
  const looked = await choose({ bytes: `${table(3)}yesterday,Late,late@example.org,x\n` });
  expect([looked.status, looked.headers["location"]]).toEqual([303, address]);
  const text = await shown();
  expect(counts(text)).toEqual([4, 3, 0, 1]);
  expect(text).toContain("old posts.csv");
  expect(text).toMatch(
    /<td class="num" data-label="Line">5<\/td>[\s\S]*created_at[\s\S]*Not a time; expected/,
  );
  expect(server.stored()).toEqual([]);
  const { fields = [] } = formsIn(text, address).find(({ action }) => action.endsWith("/begin")) ?? {};
  expect((await press("begin")).status).toBe(303);
  expect(counts(await shown())).toEqual([4, 3, 0, 1]);
  expect(await shown()).toContain("3 posts imported");
  // The second press sends the form that the first one sent.
  expect((await ben.post(`${address}/begin`, Object.fromEntries(fields))).status).toBe(303);
  expect(server.stored().map(({ name }) => name)).toEqual(["Visitor 0", "Visitor 1", "Visitor 2"]);
  await choose({ bytes: table(4) });
  expect(counts(await shown())).toEqual([4, 1, 3, 0]);
  await press("begin");
  expect(server.stored()).toHaveLength(4);
});

test("columns are chosen on the page, which shows again what would happen before it imports", async () => {
  const { server, shown, choose, press } = await openImport();
  const head = "Wann,Wer,E-Mail,message,=cmd|' /C calc'!A0\n";
  expect((await choose({ bytes: `${head}2026-01-31 10:00,Ada,a@example.org,Hello,x\n` })).status).toBe(303);
  const answer = await choose({
    bytes: `created_at,Wer,email,message\n2026-01-31 10:00,Ada,a@example.org,Hi\n`,
  });
  expect(answer.status).toBe(303);
  expect(counts(await shown())).toEqual([1, 0, 0, 1]);
  const columns = formsIn(await shown(), "")
    .flatMap(({ fields }) => fields)
    .filter(([name]) => name.startsWith("column_"));
  expect(columns.slice(0, 4)).toEqual([
    ["column_0", "created_at"],
    ["column_1", ""],
    ["column_2", "email"],
    ["column_3", "message"],
  ]);
  expect((await press("look", { column_1: "name" })).status).toBe(303);
  expect(counts(await shown())).toEqual([1, 1, 0, 0]);
  // Who changes something and presses "Import" sees first what that would do.
  expect((await press("begin", { column_1: "" })).status).toBe(303);
  expect(server.stored()).toEqual([]);
  expect(counts(await shown())).toEqual([1, 0, 0, 1]);
  await press("look", { column_1: "name" });
  await press("begin");
  expect(server.stored()).toEqual([{ name: "Ada", email: "a@example.org", message: "Hi" }]);
});

test("a list without times is imported with the time of the import, and the page says so before", async () => {
  const { server, shown, choose, press } = await openImport();
  const notice = "each of them gets the time of the import";
  expect((await choose({ bytes: "When,name,email\n31.01.2026 14:05,Ada,a@example.org\n" })).status).toBe(303);
  expect(await shown()).toContain(notice);
  expect(counts(await shown())).toEqual([1, 1, 0, 0]);
  // Who chooses the column with the times sees first what that would do.
  expect((await press("begin", { column_0: "created_at" })).status).toBe(303);
  expect(counts(await shown())).toEqual([1, 1, 0, 0]);
  expect(await shown()).not.toContain(notice);
  expect(server.stored()).toEqual([]);
  await press("begin");
  await choose({ bytes: "name,email\nBo,b@example.org\n" });
  expect(await shown()).toContain(notice);
  await press("begin");
  const times = server.owner.prepare("SELECT created_at FROM submission ORDER BY id").pluck().all();
  expect(times).toEqual([Date.parse("2026-01-31T14:05:00Z"), server.clock.now()]);
});

test("who is signed out while a file is sent reads that it must be chosen again", async () => {
  const { server, address } = await openImport();
  const { status, text } = await sendFile(server, { cookie: "none=1" }, address, { bytes: table(1) });
  expect([status, text]).toEqual([
    401,
    expect.stringContaining("the file that you chose did not arrive") as string,
  ]);
  expect(text).toContain(`/dashboard/sign-in?next=${encodeURIComponent(address)}`);
  expect(text).not.toContain("is lost");
});

test("a page of an earlier file imports nothing, and one of before a restart asks for the file again", async () => {
  const { server, ben, choose, address, shown } = await openImport();
  await choose({ bytes: table(1) });
  const old = Object.fromEntries(
    formsIn(await shown(), address).find(({ action }) => action.endsWith("/begin"))?.fields ?? [],
  );
  await choose({ bytes: table(2) });
  const answer = await ben.post(`${address}/begin`, old);
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("Choose it again") as string]);
  const current = Object.fromEntries(
    formsIn(await shown(), address).find(({ action }) => action.endsWith("/begin"))?.fields ?? [],
  );
  await server.restart();
  expect((await ben.post(`${address}/begin`, current)).status).toBe(422);
  expect(server.stored()).toEqual([]);
  expect(openSpools()).toBe(0);
});

test("a form that was deleted meanwhile takes nothing, and nothing of it is left", async () => {
  const { server, ben, choose, shown, address } = await openImport();
  await choose({ bytes: table(3) });
  const fields = Object.fromEntries(
    formsIn(await shown(), address).find(({ action }) => action.endsWith("/begin"))?.fields ?? [],
  );
  server.owner.execute(`DELETE FROM endpoint WHERE id = '${ben.endpoint.id}'`);
  expect((await ben.post(`${address}/begin`, fields)).status).toBe(404);
  expect((await sendFile(server, ben, address, { bytes: table(3) })).status).toBe(404);
  expect((await ben.get(address)).status).toBe(404);
  expect(server.owner.prepare("SELECT count(*) FROM submission").pluck().get()).toBe(0);
  expect(server.owner.prepare("SELECT count(*) FROM imported_row").pluck().get()).toBe(0);
});

test("a reader, a stranger and who is not signed in send no byte of a file", async () => {
  const { server, ben, address } = await openImport();
  const [reader, stranger] = [await visit(server, "rea@example.com"), await visit(server, "eve@example.com")];
  const place = { workspaceId: ben.endpoint.workspaceId, accountId: reader.accountId };
  await server.owner.transaction(() => storeMember(place, READER, { since: 1, byAccountId: null }));
  for (const [who, status] of [
    [reader, 403],
    [stranger, 404],
    [{ cookie: "none=1" }, 401],
  ] as const) {
    const file = { bytes: table(3) };
    expect((await sendFile(server, who, address, file)).status).toBe(status);
  }
  expect((await reader.get(address)).status).toBe(403);
  expect(openSpools()).toBe(0);
  expect(server.stored()).toEqual([]);
});

/** Sends the head of a form with a file that would be this long, and waits for the answer to it. */
function announce({ url }: TestServer, { cookie }: FormOwner, path: string, bytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, {
      method: "POST",
      headers: {
        cookie,
        "sec-fetch-site": "same-origin",
        "content-type": "multipart/form-data; boundary=x",
        "content-length": bytes,
      },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      sent
        .off("error", reject)
        .on("error", () => undefined)
        .destroy();
      resolve(response.statusCode ?? 0);
    });
    sent.flushHeaders();
  });
}

test("a file that is too large by its length is refused before a byte of it came", async () => {
  const { server, ben, address } = await openImport();
  expect(await announce(server, ben, address, MAX_IMPORT_BYTES + 100_000)).toBe(413);
  const stranger = { ...ben, ...(await visit(server, "eve@example.com")) };
  expect(await announce(server, stranger, address, 1000)).toBe(404);
  expect(await announce(server, { ...ben, cookie: "none=1" }, address, 1000)).toBe(401);
  expect(openSpools()).toBe(0);
});

test("an import that breaks off in the middle goes on with the same file, and no row is doubled or left out", async () => {
  const { server, choose, shown, press } = await openImport();
  await choose({ bytes: table(10_000) });
  server.owner
    .execute(`CREATE TRIGGER break_off BEFORE INSERT ON submission WHEN (SELECT count(*) FROM submission) >= 3210
    BEGIN SELECT RAISE(ABORT, 'broken off'); END`);
  const broken = await press("begin");
  expect([broken.status, broken.text]).toEqual([
    422,
    expect.stringContaining("The import stopped") as string,
  ]);
  expect(broken.text).not.toContain("broken off");
  // Rows of one transaction come together.
  expect(server.stored()).toHaveLength(3000);
  server.owner.execute("DROP TRIGGER break_off");
  expect((await press("look")).status).toBe(303);
  expect(counts(await shown())).toEqual([10_000, 7000, 3000, 0]);
  await press("begin");
  expect(new Set(server.stored().map(({ name }) => name)).size).toBe(10_000);
  expect(server.stored()).toHaveLength(10_000);
});

test("an import that goes on tells how far it is, and a second press or another file does not disturb it", async () => {
  const { server, ben, choose, shown, press, address } = await openImport();
  await choose({ bytes: table(6000) });
  const fields =
    formsIn(await shown(), address).find(({ action }) => action.endsWith("/begin"))?.fields ?? [];
  const begun = press("begin");
  await until(() => server.stored().length > 0);
  const [told, second, other] = await Promise.all([
    shown(),
    ben.post(`${address}/begin`, Object.fromEntries(fields)),
    choose({ bytes: table(1) }),
  ]);
  expect(told).toMatch(/is imported<\/h2>[\s\S]*of 6,000 rows so far/);
  expect([second.status, other.status]).toEqual([303, 429]);
  expect(other.text).toContain("Another import of yours goes on");
  expect((await begun).status).toBe(303);
  expect((await ben.get(`${address}?wait=1`)).text).toContain("6000 posts imported");
  expect(server.stored()).toHaveLength(6000);
});

test("who leaves in the middle of a file leaves nothing, and can send it again", async () => {
  const { server, ben, choose, address, shown } = await openImport();
  const sent = httpRequest(`${server.url}${address}`, {
    method: "POST",
    headers: {
      cookie: ben.cookie,
      "sec-fetch-site": "same-origin",
      "content-type": "multipart/form-data; boundary=x",
    },
  });
  sent.on("error", () => undefined);
  sent.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n');
  sent.write(table(8000));
  await until(() => openSpools() === 1);
  sent.destroy();
  await until(() => openSpools() === 0);
  await choose({ bytes: table(8000) });
  expect(counts(await shown())).toEqual([8000, 8000, 0, 0]);
});

test("hostile names of files and columns, and hostile cells, are shown as text", async () => {
  const { choose, shown, press } = await openImport();
  for (const value of HOSTILE_TEXTS) {
    const cell = `"${value.replaceAll('"', '""')}"`;
    const bytes = `created_at,name,email,message,${cell}\n2026-01-31,${cell},${cell},${cell},x\n${cell},a,b,c,d\n`;
    const answer = await choose({ bytes, name: `${value.replaceAll(/[\r\n"]/g, "")}.csv` });
    expect([200, 303, 422]).toContain(answer.status);
    for (const text of [answer.text, await shown(), (await press("look")).text])
      expect(text).not.toMatch(/<x-evil|<script>|<img class="x-evil"|<base |\u202e|onmouseover='x-evil'/);
  }
});
