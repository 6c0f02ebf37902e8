import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import { all, text } from "../../src/database/steps.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { markSubmissionsAs } from "../../src/submissions/manage/submission-operations.ts";
import { explainPost } from "../../src/submissions/manage/explain-post.ts";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { getSubmission } from "../../src/submissions/stored/submission-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { asSubmission, storeSubmissions } from "../support/add-submission.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { importFrom, performOn, releasePost } from "../support/terminal.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const { plans } = defaultConfig;
const parts = { plans, defaults: defaultSpamSettings(10) };
const pitch = {
  name: "Max",
  email: "max@tables.example",
  message: "Could you send me the price list of your oak tables and of the chairs that go with them, please?",
};

async function withEndpoint(db: Database) {
  const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const { id } = await db.transaction(() => insertEndpointRow(workspace, made, plans, NOON));
  return { workspaceId: workspace.id, endpointId: id };
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a mark teaches the filter what a text and its sender are, and an undone one leaves nothing of it", async () => {
    const db = await temporary();
    const { endpointId } = await withEndpoint(db);
    const [id = ""] = await storeSubmissions(db, [{ endpointId, data: pitch }]);
    const mark = (wanted: "spam" | "ham" | null) =>
      performOn(db, markSubmissionsAs, { submissions: [id], mark: wanted });
    const score = async () =>
      (await db.read(() => explainPost(parts, endpointId, pitch, NOON))).verdict.score;
    const before = await score();
    await mark("spam");
    const known = "SELECT marked_spam, marked_ham FROM remembered_text";
    expect(await rowsOf(db, known)).toEqual([{ marked_spam: 1, marked_ham: 0 }]);
    expect(await score()).toBeGreaterThan(before);
    await mark("ham");
    expect(await rowsOf(db, known)).toEqual([{ marked_spam: 0, marked_ham: 1 }]);
    await mark(null);
    expect(await rowsOf(db, "SELECT mark FROM lesson")).toEqual([]);
    expect(await score()).toBe(before);
    await expect(
      performOn(db, markSubmissionsAs, { submissions: [newId("sub", 1)], mark: "ham" }),
    ).rejects.toMatchObject({ code: "not_found" });
  });

  test("a released post is counted, queued for who wants it and a lesson, in one transaction", async () => {
    const db = await temporary();
    const { workspaceId, endpointId } = await withEndpoint(db);
    const [held, recipient] = [newId("held", NOON), newId("wh", NOON)];
    await write(
      db,
      `INSERT INTO recipient (id, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, created_at, confirmed_at)
       VALUES ('${recipient}', '${endpointId}', 50, 'enabled', 'closed', 0, 0, 1, 1)`,
      `INSERT INTO held (id, workspace_id, endpoint_id, why, trapped, schema_version, data, spam_score, spam_reasons,
         ip_address, user_agent, created_at)
       VALUES ('${held}', '${workspaceId}', '${endpointId}', 'spam', 0, 1, '${JSON.stringify(pitch)}', 90, '[]', '', '', ${NOON})`,
    );
    const { id } = await releasePost({ db, plans }, held, NOON);
    expect(await db.read(() => getSubmission(id))).toMatchObject({ data: pitch, spamScore: 0 });
    expect(await rowsOf(db, "SELECT recipient_id, message_count FROM outbox")).toEqual([
      { recipient_id: recipient, message_count: 1 },
    ]);
    expect(await rowsOf(db, "SELECT used FROM usage")).toEqual([{ used: 1 }]);
    expect(await rowsOf(db, "SELECT mark FROM lesson")).toEqual([{ mark: "ham" }]);
    expect(await rowsOf(db, "SELECT posts FROM held_total")).toEqual([{ posts: 0 }]);
    await expect(releasePost({ db, plans }, held, NOON)).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("an import adds what is not there yet, and says how many were", async () => {
    const db = await temporary();
    const { endpointId } = await withEndpoint(db);
    const submissions = [1, 2, 3].map((number) =>
      asSubmission({ endpointId, createdAt: NOON + number, data: { name: `N\u0000${number}` } }),
    );
    const file = join(temporaryFolder(), "all.ndjson");
    writeFileSync(file, submissions.map((each) => `${JSON.stringify(submissionJson(each))}\n`).join(""));
    await storeSubmissions(db, submissions.slice(1, 2));
    expect(await importFrom(db, file)).toEqual({ added: 2, known: 1 });
    expect(await importFrom(db, file)).toEqual({ added: 0, known: 3 });
    const [row] = await db.read(() =>
      all(text<{ data: string }>("SELECT data FROM submission WHERE id = ?", submissions[0]?.id)),
    );
    expect(JSON.parse(row?.data ?? "")).toEqual({ name: "N\u00001" });
  });
});
