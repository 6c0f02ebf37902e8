import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { exportWorkspace } from "../../src/archive/export-workspace.ts";
import { query } from "../../src/database/database.ts";
import { run } from "../../src/database/steps.ts";
import { CHUNK_BYTES } from "../../src/files/byte-source.ts";
import { newId } from "../../src/foundation/id.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { performStream } from "../../src/operations/perform.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { deleteSubmissions } from "../../src/submissions/manage/work-operations.ts";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { ENGINES, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { READER, withMembers } from "../support/members.ts";
import { readZip } from "../support/read-zip.ts";
import { partsOn, performOn } from "../support/terminal.ts";

const parts = { searches: null, spamDefaults: defaultSpamSettings(5) };

/** Chunks of an `a`, of a `b` and so on. */
const letters = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, position) => Buffer.alloc(CHUNK_BYTES, 97 + position));

describe.each(ENGINES)("on $name", ({ temporary }) => {
  /** A file of some chunks, of a submission or of a held post. */
  async function addFile(
    db: Db,
    endpoint: string,
    owner: string,
    chunks: readonly Buffer[],
  ): Promise<string> {
    const id = newId("fil", NOON);
    const column = owner.startsWith("held_") ? "held_id" : "submission_id";
    await write(
      db,
      `INSERT INTO file (id, endpoint_id, ${column}, state, name, size, type, sha256, created_at)
         VALUES ('${id}', '${endpoint}', '${owner}', 'stored', 'cv.txt', ${chunks.length * CHUNK_BYTES}, 'text/plain', '00', 1)`,
    );
    await db.transaction(function* () {
      for (const [position, bytes] of chunks.entries())
        yield* run(query.insertInto("file_chunk").values({ file_id: id, position, bytes }));
    });
    return id;
  }
  type Db = Awaited<ReturnType<typeof temporary>>;

  /** The archive that somebody gets, by its members. */
  async function archiveOf(db: Db, actor: Actor, workspace: string) {
    const got = await partsOn(db, exportWorkspace, { workspace }, { actor, parts });
    const told = got.at(-1)!;
    const members = readZip(Buffer.concat(got.map(({ base64 }) => Buffer.from(base64, "base64"))));
    const lines = (name: string) =>
      String(members.get(name))
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { id: string });
    return { told, members, lines };
  }

  test("an owner takes out the settings, submissions, held posts and the files of both, of this workspace alone and nothing of the bin", async () => {
    const db = await temporary();
    const { workspace, owner, shop, jobs, hers } = await withMembers(db);
    const kept = await addFile(db, shop.endpoint, shop.submission, letters(2));
    const ofHeld = await addFile(db, shop.endpoint, shop.held, letters(1));
    await addFile(db, jobs.endpoint, jobs.submission, letters(1));
    await addFile(db, hers.endpoint, hers.submission, letters(1));
    await performOn(db, deleteSubmissions, { submissions: [jobs.submission] }, { actor: owner });
    const { told, members, lines } = await archiveOf(db, owner, workspace);
    expect(told).toEqual({ base64: "", endpoints: 2, submissions: 1, held: 2, files: 2, notes: [] });
    expect([...members.keys()]).toEqual([
      "settings.json",
      "submissions.ndjson",
      "held.ndjson",
      `files/${kept}`,
      `files/${ofHeld}`,
    ]);
    expect(lines("submissions.ndjson").map(({ id }) => id)).toEqual([shop.submission]);
    expect(lines("held.ndjson").map(({ id }) => id)).toEqual([jobs.held, shop.held].toSorted().toReversed());
    expect(String(members.get(`files/${kept}`))).toBe("a".repeat(CHUNK_BYTES) + "b".repeat(CHUNK_BYTES));
    expect(String(members.get(`files/${ofHeld}`))).toBe("a".repeat(CHUNK_BYTES));
    const settings = JSON.parse(String(members.get("settings.json"))) as {
      workspaces: { endpoints: { name: string }[] }[];
    };
    expect(settings.workspaces.map(({ endpoints }) => endpoints.map(({ name }) => name).toSorted())).toEqual([
      ["Jobs", "Shop"],
    ]);
  });

  test("only an owner exports a workspace: editors and readers are refused with their role, and to strangers there is none", async () => {
    const db = await temporary();
    const { workspace, editor, reader, boundEditor, cleo } = await withMembers(db);
    const asked = (actor: Actor) => partsOn(db, exportWorkspace, { workspace }, { actor, parts });
    for (const [name, actor] of Object.entries({ editor, reader, editor2: boundEditor }))
      await expect(asked(actor), name).rejects.toMatchObject({
        code: "forbidden",
        message: expect.stringContaining(`the role ${name.replace("2", "")} in this workspace`) as string,
      });
    const stranger: Actor = { kind: "account", ...cleo.identity };
    await expect(asked(stranger)).rejects.toMatchObject({ code: "not_found" });
    const scopes = ["submissions:export", "submissions:read", "endpoints:read", "workspace:read"] as const;
    const reach = { workspaceId: workspace, endpointId: null };
    const token: Actor = { kind: "token", tokenId: "tok_1", name: "CI", account: null, scopes, reach };
    await expect(asked(token)).rejects.toMatchObject({ code: "forbidden" });
    expect(await asked({ ...token, scopes: [...scopes, "recipients:read"] })).not.toEqual([]);
  });

  test("an owner who becomes a reader, or is removed, while the archive is made gets no further file", async () => {
    const db = await temporary();
    const { workspace, owner, shop, ben } = await withMembers(db);
    for (let count = 0; count < 3; count += 1) await addFile(db, shop.endpoint, shop.submission, letters(1));
    const place = { workspaceId: workspace, accountId: owner.accountId };
    const take = async (change: () => Promise<unknown>): Promise<number> => {
      const door = { db, config: defaultConfig, now: NOON, actor: owner, parts, onChange: () => undefined };
      let files = 0;
      for await (const part of await performStream(door, exportWorkspace, { workspace })) {
        if (part.files === 1 && files === 0) await change();
        files = part.files;
      }
      return files;
    };
    const demoted = () =>
      db.transaction(() => storeMember(place, READER, { since: 1, byAccountId: ben.identity.accountId }));
    await expect(take(demoted)).rejects.toMatchObject({ code: "forbidden" });
    await db.transaction(() =>
      storeMember(place, { ...READER, role: "owner" }, { since: 1, byAccountId: null }),
    );
    const removed = () => write(db, `DELETE FROM member WHERE account_id = '${owner.accountId}'`);
    await expect(take(removed)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a file that is deleted before its turn is left out, and the rest is whole", async () => {
    const db = await temporary();
    const { workspace, owner, shop } = await withMembers(db);
    const files: string[] = [];
    for (let count = 0; count < 3; count += 1)
      files.push(await addFile(db, shop.endpoint, shop.submission, letters(1)));
    const door = { db, config: defaultConfig, now: NOON, actor: owner, parts, onChange: () => undefined };
    const bytes: Buffer[] = [];
    let isDeleted = false;
    for await (const part of await performStream(door, exportWorkspace, { workspace })) {
      bytes.push(Buffer.from(part.base64, "base64"));
      if (part.files === 1 && !isDeleted)
        await write(
          db,
          `UPDATE file SET submission_id = NULL WHERE id = '${files[1]}'`,
          `DELETE FROM file_chunk WHERE file_id = '${files[1]}'`,
        );
      isDeleted ||= part.files === 1;
    }
    const names = [...readZip(Buffer.concat(bytes)).keys()].filter((name) => name.startsWith("files/"));
    expect(names).toEqual([`files/${files[0]}`, `files/${files[2]}`]);
  });

  test("parts of an archive stay small however large the files are", async () => {
    const db = await temporary();
    const { workspace, owner, shop } = await withMembers(db);
    await addFile(
      db,
      shop.endpoint,
      shop.submission,
      Array.from({ length: 8 }, () => randomBytes(CHUNK_BYTES)),
    );
    const got = await partsOn(db, exportWorkspace, { workspace }, { actor: owner, parts });
    const longest = Math.max(...got.map(({ base64 }) => Buffer.byteLength(base64, "base64")));
    expect(longest).toBeLessThanOrEqual(2 * CHUNK_BYTES);
  });
});
