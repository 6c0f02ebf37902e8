import { expect, test } from "vitest";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exportSubmissions } from "../../src/submissions/export/export-submissions.ts";
import { listSubmissions } from "../../src/submissions/manage/submission-operations.ts";
import { deleteSubmissions } from "../../src/submissions/manage/work-operations.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { makeEndpoint, partsOn, performOn } from "../support/terminal.ts";
import { plans } from "../support/two-owners.ts";

test.each([
  ["data", "data"],
  ["spam_reasons", "spam reasons"],
  ["unknown_fields", "set-aside fields"],
])(
  "a submission whose %s a disk damaged is named; those after it are exported, and it can be deleted",
  async (column, what) => {
    const db = temporaryDatabase();
    const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
    const place = { workspace: null, plans, newWorkspacePlan: "hobby", now: NOON };
    const { id: endpointId } = (await makeEndpoint(db, made, place)).endpoint;
    const given = [0, 1, 2].map((late) => ({ endpointId, data: { name: "Ada" }, createdAt: NOON + late }));
    const [first, damaged = "", last] = await storeSubmissions(db, given);
    db.prepare(`UPDATE submission SET ${column} = '{"name' WHERE id = ?`).run(damaged);

    const message = expect.stringContaining(`the ${what} of the submission ${damaged} are damaged`) as string;
    const refusal = { code: "database_unusable", message };
    const door = { parts: { searches: null } };
    await expect(performOn(db, listSubmissions, {}, door)).rejects.toMatchObject(refusal);
    await expect(partsOn(db, exportSubmissions, { format: "ndjson" }, door)).rejects.toMatchObject(refusal);

    const after = await partsOn(db, exportSubmissions, { format: "ndjson", cursor: damaged }, door);
    expect(after.map(({ text }) => text).join("")).toContain(last);
    await performOn(db, deleteSubmissions, { submissions: [damaged], now: true });
    const { data } = await performOn(db, listSubmissions, {}, door);
    expect(data.map(({ id }) => id)).toEqual([last, first]);
  },
);
