import { describe, expect, test } from "vitest";
import { LimitLetters } from "../../src/doctor/limit-letters.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { createFileRoom } from "../../src/files/file-room.ts";
import { toIsoTime } from "../../src/foundation/clock.ts";
import { newId } from "../../src/foundation/id.ts";
import { compileNetworks } from "../../src/foundation/ip-address.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { createFakeClock, NOON } from "../support/fake-clock.ts";
import { addFormOwner, type FormOwner } from "../support/form-owner.ts";
import { startMailedSite, textOf } from "../support/mailed-site.ts";
import { ADA } from "../support/sign-in-form.ts";
import { goodPost } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf } from "../support/uploads.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const OWNER = "owner@customer.example";
const HOBBY = { monthlySubmissions: 5, endpoints: null, customSpam: false };

type Site = Awaited<ReturnType<typeof startMailedSite>>;

/** A customer's form on a server of which Ada is the operator. */
async function begin(): Promise<{ site: Site; owner: FormOwner }> {
  const site = await startMailedSite({ plans: { hobby: HOBBY } });
  await addFormOwner(site.server, ADA);
  return { site, owner: await addFormOwner(site.server, OWNER) };
}

/** What was written about limits, by the reader. */
function letters({ mail }: Site, to: string): string[] {
  const own = mail.received.filter((each) => each.to.includes(to));
  return own.map((letter) => /^Subject: (.*)$/m.exec(textOf(letter))?.[1]?.trim() ?? "");
}

test("owner and operator are told at 80 %, at 100 % and of the first held post, once each in a month", async () => {
  const { site, owner } = await begin();
  const { server } = site;
  const post = async () => (await server.post(owner.endpoint.secret, goodPost)).status;
  for (let count = 0; count < 3; count += 1) expect(await post()).toBe(200);
  expect(await post()).toBe(200);
  await until(() => letters(site, OWNER).length === 1 && letters(site, ADA).length === 1);
  expect(letters(site, OWNER)[0]).toMatch(/^80 % of the month's 5 submissions are used/);
  expect(await post()).toBe(200);
  await until(() => letters(site, OWNER).length === 2 && letters(site, ADA).length === 2);
  expect(letters(site, OWNER)[1]).toMatch(/^All 5 submissions of the month are used/);
  for (let count = 0; count < 3; count += 1) expect(await post()).toBe(429);
  await until(() => letters(site, OWNER).length === 3 && letters(site, ADA).length === 3);
  expect(letters(site, OWNER)[2]).toMatch(/^A post is held because the month is full/);
  await server.restart();
  expect(await post()).toBe(429);
  // The next month begins anew; nothing of the last one is told again.
  server.clock.advance(31 * DAY_MS);
  for (let count = 0; count < 4; count += 1) expect(await post()).toBe(200);
  await until(() => letters(site, OWNER).length === 4 && letters(site, ADA).length === 4);
  expect([letters(site, OWNER).length, letters(site, ADA).length]).toEqual([4, 4]);
  expect(letters(site, OWNER)[3]).toMatch(/^80 %/);
});

test("who reads it knows what to do: the owner asks, the operator gives another plan", async () => {
  const { site, owner } = await begin();
  for (let count = 0; count < 4; count += 1) await site.server.post(owner.endpoint.secret, goodPost);
  const toOwner = textOf(await site.letterTo(OWNER));
  expect(toOwner).toContain("ask whoever runs this server for a larger plan");
  expect(toOwner).toContain("https://forms.example.com/dashboard/usage");
  const toOperator = textOf(await site.letterTo(ADA));
  expect(toOperator).toContain("give the workspace another plan");
  expect(toOperator).toContain("null is unlimited");
});

test("a month that was full when the server was killed is told by the next start", async () => {
  const { site, owner } = await begin();
  const { server } = site;
  // As a process leaves it that ends between a post and its letters.
  server.owner.execute(
    `INSERT INTO usage (workspace_id, month, used) VALUES ('${owner.endpoint.workspaceId}', '2026-06', 5)`,
  );
  await server.restart();
  await until(() => letters(site, OWNER).length === 2);
  expect(letters(site, OWNER)).toEqual([
    expect.stringMatching(/^80 %/) as string,
    expect.stringMatching(/^All 5/) as string,
  ]);
});

test("a running server tells of a form whose page sent most of its files of the day", async () => {
  const site = await startMailedSite({
    plans: { hobby: { ...HOBBY, fileBytes: 200_000 } },
    files: { maxFormShare: 0.5 },
  });
  const { server } = site;
  await addFormOwner(server, ADA);
  const form = await server.addEndpoint({ schema: applicationSchema });
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: pdf(90_000) }],
  ]);
  const authorization = `Bearer ${form.publishable}`;
  const sent = { method: "POST", path: "/submit", headers: { ...headers, authorization }, body };
  expect((await server.request(sent)).status).toBe(200);
  // The server looks when it starts, and then every minute.
  await server.restart();
  const letter = textOf(await site.letterTo(ADA));
  expect(letter).toContain("88 KB of files came through the page of the form Contact of the workspace ada");
  expect(letter).toContain("on the plan hobby, 98 KB may come in a day");
  expect(letter).toContain(`https://forms.example.com/dashboard/endpoints/${form.id}`);
});

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function openRoom({ maxFormShare = 1 } = {}) {
    const db = await temporary();
    const clock = createFakeClock();
    const { workspaceId, endpointId } = await addPlace(db);
    const files = { ...defaultConfig.files, maxFormShare };
    const letterMaker = new LimitLetters({
      db,
      plans: { hobby: { ...HOBBY, fileBytes: 100_000 } },
      files,
      heldDays: 30,
      operator: "ops@example.com",
      dashboardUrl: "https://forms.example.com/dashboard",
      clock,
      onWritten: () => {},
    });
    const room = createFileRoom(db, { ...files, exempt: compileNetworks([]) });
    const upload = (size: number, { to = endpointId, isPublishable = true } = {}) => {
      const now = clock.now();
      const facts = { id: newId("fil", now), name: "a", size, type: "text/plain", sha256: "0" };
      return room.take({ endpointId: to, workspaceId, planBytes: 100_000, isPublishable, address: null }, [
        { ...facts, createdAt: now, endpointId: to },
      ]);
    };
    /** What was written since the last call, by address and subject. */
    let seen = 0;
    const news = async () => {
      await letterMaker.lookThrough();
      await letterMaker.lookThrough();
      const rows = await rowsOf<{ address: string; content: string }>(
        db,
        "SELECT address, content FROM letter ORDER BY id",
      );
      const fresh = rows.slice(seen);
      seen = rows.length;
      return fresh.map(({ address, content }) => [
        address,
        (JSON.parse(content) as { subject: string }).subject,
      ]);
    };
    return { db, clock, workspaceId, endpointId, upload, news };
  }

  const both = (subject: string) => [
    ["ana@example.org", subject],
    ["ops@example.com", subject],
  ];
  const FORM_NEAR = both("80 % of a form's day for files is used: Contact");
  const FORM_FULL = both("A form's day for files is full: Contact");

  test("owner and operator are told when 80 % of the room for files is used, and when files did not fit, once each", async () => {
    const { upload, news } = await openRoom();
    const take = (size: number) => upload(size, { isPublishable: false });
    await take(79_999);
    expect(await news()).toEqual([]);
    await take(1);
    expect(await news()).toEqual(both("80 % of the room for files is used: ana"));
    await expect(take(20_001)).rejects.toMatchObject({ code: "storage_limit" });
    expect(await news()).toEqual(both("The room for files is full: ana"));
  });

  test("owner and operator are told when 80 % of what a form's page may send in a day came, and when files did not fit, once each a day", async () => {
    const { clock, upload, news } = await openRoom({ maxFormShare: 0.2 });
    await upload(30_000, { isPublishable: false });
    await upload(15_999);
    expect(await news()).toEqual([]);
    await upload(1);
    expect(await news()).toEqual(FORM_NEAR);
    await upload(1000);
    expect(await news()).toEqual([]);
    await expect(upload(3001)).rejects.toMatchObject({ code: "upload_limit" });
    await expect(upload(3001)).rejects.toMatchObject({ code: "upload_limit" });
    expect(await news()).toEqual(FORM_FULL);
    clock.advance(DAY_MS);
    expect(await news()).toEqual([]);
    await expect(upload(20_001)).rejects.toMatchObject({ code: "upload_limit" });
    expect(await news()).toEqual(FORM_FULL);
    await upload(18_000);
    expect(await news()).toEqual([]);
  });

  test("of a form that was full just before midnight they are told after it, of one that was nearly full they are not", async () => {
    const { clock, upload, news } = await openRoom({ maxFormShare: 0.2 });
    clock.advance(DAY_MS / 2 - 1000);
    await upload(16_000);
    clock.advance(2000);
    expect(await news()).toEqual([]);
    clock.advance(DAY_MS - 2000);
    await expect(upload(20_001)).rejects.toMatchObject({ code: "upload_limit" });
    clock.advance(2000);
    expect(await news()).toEqual(FORM_FULL);
  });

  test("who fills many forms of a workspace causes ten letters a day to each reader, and no more", async () => {
    const { db, clock, workspaceId, upload, news } = await openRoom({ maxFormShare: 0.00001 });
    const forms = Array.from({ length: 12 }, (_, number) => newId("ep", NOON + number));
    for (const id of forms)
      await write(
        db,
        `INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, store_address, created_at)
         SELECT '${id}', '${workspaceId}', 'Contact', 'active', 1, '[]', 'drop', 'full', 1`,
      );
    const fillAll = async () => {
      for (const to of forms) await upload(2, { to }).catch(() => undefined);
    };
    await fillAll();
    expect(await news()).toHaveLength(20);
    await fillAll();
    expect(await news()).toEqual([]);
    clock.advance(DAY_MS);
    await fillAll();
    expect(await news()).toHaveLength(20);
  });

  test("several servers that look at once tell each thing once", async () => {
    const db = await temporary();
    const clock = createFakeClock();
    for (let number = 0; number < 6; number += 1)
      await db.transaction(() => insertAccountRows(`owner${number}@example.com`, NOON));
    await write(
      db,
      "INSERT INTO usage (workspace_id, month, used) SELECT id, '2026-06', 5 FROM workspace",
      "UPDATE account SET is_operator = 0",
      `INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, store_address, created_at)
       SELECT 'ep_' || substr(id, 4), id, 'Contact', 'active', 1, '[]', 'drop', 'full', 1 FROM workspace`,
      `INSERT INTO upload_use (day, unit, bytes) SELECT '${toIsoTime(NOON).slice(0, 10)}', 'form ' || id, 40 FROM endpoint`,
    );
    const open = () =>
      new LimitLetters({
        db,
        plans: { hobby: { ...HOBBY, fileBytes: 100 } },
        files: { ...defaultConfig.files, maxFormShare: 0.5 },
        heldDays: 30,
        operator: "ops@example.com",
        dashboardUrl: null,
        clock,
        onWritten: () => {},
      });
    const servers = [open(), open(), open()];
    // One that met another's transaction looks again later.
    for (let round = 0; round < 5; round += 1)
      await Promise.allSettled(servers.map((server) => server.lookThrough()));
    const rows = await rowsOf<{ address: string; letters: number }>(
      db,
      "SELECT address, count(*) AS letters FROM letter GROUP BY address ORDER BY address",
    );
    expect(rows.map(({ address, letters: count }) => [address, count])).toEqual([
      ["ops@example.com", 18],
      ...Array.from({ length: 6 }, (_, number) => [`owner${number}@example.com`, 3]),
    ]);
  });
});
