import { describe, expect, onTestFinished, test } from "vitest";
import { ENDPOINT_CONTENTS, WORKSPACE_CONTENTS } from "../../src/app/features.ts";
import { createSubmitService } from "../../src/app/submit-service.ts";
import { defaultConfig } from "../../src/config/config.ts";
import type { AnyDatabase } from "../../src/database/any-database.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { moveEndpoint } from "../../src/endpoints/move-endpoint.ts";
import { countWorkspaceBytes } from "../../src/files/file-room.ts";
import { parseBody } from "../../src/submissions/receive/parse-body.ts";
import type { IncomingPost } from "../../src/submissions/receive/receive-submission.ts";
import { deleteWorkspace } from "../../src/workspaces/delete-workspace.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { threeOwners, threeOwnersOn } from "../support/actors.ts";
import { addPlace, batchServer } from "../support/batch-world.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { createFakeClock, NOON } from "../support/fake-clock.ts";
import { silentLog } from "../support/silent-log.ts";
import { makeEndpoint, performOn } from "../support/terminal.ts";
import { addSubmissionWithFile, pdf, sha256 } from "../support/uploads.ts";
import { until } from "../support/until.ts";
import { goodPost, startServer } from "../support/test-server.ts";

const parts = { endpointContents: ENDPOINT_CONTENTS };
const plainPost: IncomingPost = {
  body: Buffer.from('{"message":"Hello"}'),
  readFields: parseBody,
  origin: undefined,
  fromBrowser: false,
  userAgent: undefined,
  acceptLanguage: undefined,
  idempotencyKey: undefined,
  submitterIp: undefined,
  submitterUserAgent: undefined,
};
const hobby = { monthlySubmissions: null, endpoints: 1, customSpam: false };

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("held posts go along, and both workspaces count what they hold", async () => {
    const db = await temporary();
    const [from, to] = [await addPlace(db), await addPlace(db, "ben")];
    const { write } = batchServer(db);
    const networks = ["a", "a", "b"];
    const held = networks.map((network) => from.held({ network }));
    await write([...held, from.held({ network: "a" }), to.held({ network: "a" })]);
    await performOn(db, moveEndpoint, { endpoint: from.endpointId, to: to.workspaceId }, { parts });
    const counted = (of: string) =>
      rowsOf<{ posts: number }>(db, `SELECT posts FROM held_total WHERE workspace_id = '${of}'`);
    expect(await counted(from.workspaceId)).toEqual([{ posts: 0 }]);
    expect(await counted(to.workspaceId)).toEqual([{ posts: 5 }]);
    const sums = `SELECT h.workspace_id, h.posts, h.first_id = (SELECT min(id) FROM held
      WHERE held.workspace_id = h.workspace_id AND held.network = h.network) AS is_first
      FROM held_network AS h ORDER BY h.posts`;
    const rows = await rowsOf<{ workspace_id: string; posts: number; is_first: unknown }>(db, sums);
    expect(rows.map((row) => [row.workspace_id, row.posts, Boolean(row.is_first)])).toEqual([
      [to.workspaceId, 1, true],
      [to.workspaceId, 4, true],
    ]);
    const bytes = `SELECT (SELECT sum(bytes) FROM held_total) = (SELECT sum(bytes) FROM held) AS same`;
    expect((await rowsOf<{ same: unknown }>(db, bytes)).map(({ same }) => Boolean(same))).toEqual([true]);
  });

  test("held posts that a move left behind follow their form when its old workspace is deleted", async () => {
    const db = await temporary();
    const [from, to] = [await addPlace(db), await addPlace(db, "ben")];
    await batchServer(db).write([from.held(), to.held()]);
    const input = { endpoint: from.endpointId, to: to.workspaceId };
    await performOn(db, moveEndpoint, input, { parts: { endpointContents: { deletions: [], moves: [] } } });
    const contents = { parts: { workspaceContents: WORKSPACE_CONTENTS } };
    await performOn(db, deleteWorkspace, { workspace: from.workspaceId }, contents);
    const counted = await rowsOf(db, "SELECT workspace_id, posts FROM held_total");
    expect(counted).toEqual([{ workspace_id: to.workspaceId, posts: 2 }]);
    const there = { workspace_id: to.workspaceId };
    expect(await rowsOf(db, "SELECT workspace_id FROM held")).toEqual([there, there]);
  });

  test("files go along with all their bytes, and take of the new workspace's room alone", async () => {
    const db = await temporary();
    const [from, to] = [await addPlace(db), await addPlace(db, "ben")];
    const bytes = pdf(300_000);
    const { fileIds } = await addSubmissionWithFile(db, from, bytes);
    const room = (of: string) => db.read(() => countWorkspaceBytes(of));
    expect([await room(from.workspaceId), await room(to.workspaceId)]).toEqual([300_000, 0]);
    await performOn(db, moveEndpoint, { endpoint: from.endpointId, to: to.workspaceId }, { parts });
    expect([await room(from.workspaceId), await room(to.workspaceId)]).toEqual([0, 300_000]);
    const chunks = await rowsOf<{ file_id: string; bytes: Uint8Array }>(
      db,
      "SELECT file_id, bytes FROM file_chunk ORDER BY position",
    );
    expect(chunks.map(({ file_id: of }) => of)).toEqual([fileIds[0], fileIds[0]]);
    expect(sha256(Buffer.concat(chunks.map((chunk) => chunk.bytes)))).toBe(sha256(bytes));
  });

  test("a post that is under way while its form moves and the old workspace goes is checked anew, as one to the new workspace", async () => {
    const db = (await temporary()) as AnyDatabase;
    const { ben, cleo } = await threeOwnersOn(db);
    const plans = {
      ...defaultConfig.plans,
      small: { ...defaultConfig.plans["hobby"]!, monthlySubmissions: 2 },
    };
    await write(db, `UPDATE workspace SET plan = 'small' WHERE id = '${cleo.workspace}'`);
    const config = { ...defaultConfig, plans };
    const clock = createFakeClock();
    const service = await createSubmitService({ db, config, clock, log: silentLog, metrics: null });
    onTestFinished(() => service.posts.drain());
    const { gatekeeper, intake } = service.posts;
    const made = {
      name: "Blog",
      definition: { message: { type: "string" } },
      settings: defaultEndpointSettings,
    } as const;
    const { endpoint, secret } = await makeEndpoint(db, made, { workspace: ben.workspace, plans, now: NOON });
    const caller = await gatekeeper.authenticate(`Bearer ${secret.text}`, "192.0.2.7");
    await performOn(db, moveEndpoint, { endpoint: endpoint.id, to: cleo.workspace }, { parts, plans });
    const contents = { parts: { workspaceContents: WORKSPACE_CONTENTS } };
    await performOn(db, deleteWorkspace, { workspace: ben.workspace }, contents);
    const post = (idempotencyKey?: string) => intake.receive(caller, { ...plainPost, idempotencyKey });
    const spam = { ...plainPost, body: Buffer.from('{"message":"Hello","_gotcha":"x"}') };
    await expect(intake.receive(caller, spam)).rejects.toMatchObject({ code: "spam_blocked" });
    const [first] = await Promise.all([post("one"), post()]);
    expect(await post("one")).toBe(first);
    await expect(post()).rejects.toMatchObject({ code: "submission_limit", facts: { isHeld: true } });
    const counted = "SELECT workspace_id, used FROM usage";
    expect(await rowsOf(db, counted)).toEqual([{ workspace_id: cleo.workspace, used: 2 }]);
    const held = "SELECT workspace_id, why FROM held ORDER BY why";
    expect(await rowsOf(db, held)).toEqual([
      { workspace_id: cleo.workspace, why: "limit" },
      { workspace_id: cleo.workspace, why: "spam" },
    ]);
  });

  test("a move that is cut off is finished by doing it again, and one to where it is changes and records nothing", async () => {
    const db = await temporary();
    const { ben, cleo } = await threeOwnersOn(db);
    const input = { endpoint: ben.endpoint, to: cleo.workspace };
    const onProgress = () => Promise.reject(new Error("killed"));
    await expect(performOn(db, moveEndpoint, input, { parts, onProgress })).rejects.toThrow("killed");
    await performOn(db, moveEndpoint, input, { parts });
    const recorded = await rowsOf(db, "SELECT action FROM audit_event WHERE action = 'endpoint.move'");
    expect(recorded).toHaveLength(2);
  });
});

test("keys, ids and posts stay as they are, the month's count stays where it was, and later posts count in the new workspace", async () => {
  const server = await startServer();
  const form = await server.addEndpoint();
  expect((await server.post(form.secret, goodPost)).status).toBe(200);
  const { workspace } = server.owner.now(() => insertAccountRows("cleo@example.com", NOON));
  const { endpoint } = await performOn(
    server.owner,
    moveEndpoint,
    { endpoint: form.id, to: workspace.id },
    { parts },
  );
  expect(endpoint).toMatchObject({ id: form.id, workspace_id: workspace.id });
  const used = server.owner.prepare("SELECT used FROM usage WHERE workspace_id = ?").pluck();
  // A running server notices within a second.
  await until(async () => {
    expect((await server.post(form.publishable, goodPost)).status).toBe(200);
    return used.get(workspace.id) === 1;
  });
  expect(Number(used.get(form.workspaceId)) + 1).toBe(server.stored(form.id).length);
  const changes = server.owner
    .prepare("SELECT workspace_id FROM audit_event WHERE action = 'endpoint.move'")
    .pluck()
    .all();
  expect(new Set(changes)).toEqual(new Set([form.workspaceId, workspace.id]));
});

test("a form moves only between workspaces that whoever asks owns, and into one with room for it", async () => {
  const { db, ada, ben, cleo } = await threeOwners();
  const move = (endpoint: string, to: string, actor = ben.actor) =>
    performOn(db, moveEndpoint, { endpoint, to }, { parts, actor });
  await expect(move(ben.endpoint, cleo.workspace)).rejects.toMatchObject({
    code: "not_found",
    message: `there is no workspace ${cleo.workspace}`,
  });
  await expect(move(cleo.endpoint, ben.workspace)).rejects.toMatchObject({
    code: "not_found",
    message: `there is no endpoint ${cleo.endpoint}`,
  });
  const full = performOn(
    db,
    moveEndpoint,
    { endpoint: ben.endpoint, to: cleo.workspace },
    { parts, actor: ada.actor, plans: { hobby } },
  );
  await expect(full).rejects.toMatchObject({ code: "plan_limit" });
  const rows = await rowsOf(db, "SELECT workspace_id FROM endpoint ORDER BY id");
  expect(rows).toEqual([ada, ben, cleo].map(({ workspace }) => ({ workspace_id: workspace })));
});
