import { query } from "../../src/database/database.ts";
import { run, type Steps } from "../../src/database/steps.ts";
import { newId } from "../../src/foundation/id.ts";
import { NOON } from "./fake-clock.ts";

interface Owners {
  readonly endpointIds: readonly string[];
  readonly submissionIds: readonly string[];
  readonly heldIds: readonly string[];
}

/**
 * Stores files of a submission and of a held post, a file that is still being stored, the key for the addresses of files, the bytes that an
 * address sent in a day, and a row that was imported from another service.
 */
export function* fillFiles({ endpointIds, submissionIds, heldIds }: Owners, name: string): Steps<void> {
  const file = {
    endpoint_id: endpointIds[0] ?? "",
    name,
    type: "text/plain",
    sha256: "00",
    created_at: NOON,
  };
  const owned = [
    {
      id: newId("fil", NOON),
      submission_id: submissionIds[0] ?? null,
      held_id: null,
      state: "stored",
      size: 262_147,
    },
    {
      id: newId("fil", NOON),
      submission_id: null,
      held_id: heldIds[0] ?? null,
      for_held: 1,
      state: "stored",
      size: 3,
    },
    { id: newId("fil", NOON), submission_id: null, held_id: null, state: "storing", size: 9 },
    {
      id: newId("fil", NOON),
      submission_id: submissionIds[0] ?? null,
      held_id: null,
      state: "stored",
      size: 5,
      object_id: `fil_object-${name.length}`,
    },
  ] as const;
  for (const each of owned) yield* run(query.insertInto("file").values({ ...file, ...each }));
  yield* run(query.insertInto("imported_row").values({ endpoint_id: file.endpoint_id, row_hash: "c2hh" }));
  yield* run(
    query
      .insertInto("file_scan")
      .values({ file_id: owned[0].id, state: "scanning", wait_until: NOON, attempts: 1, due_at: NOON }),
  );
  const [submissionId] = submissionIds;
  if (submissionId !== undefined)
    yield* run(
      query
        .insertInto("scan_wait")
        .values({ submission_id: submissionId, until: NOON, recipients: '["rcpt_1"]' }),
    );
  const use = { day: "2026-03-04", unit: `address ${name}`, bytes: 262_147 };
  yield* run(query.insertInto("upload_use").values(use));
  const lost = { object_id: `lost-${name}`, lost_at: NOON, was_stored: 1, attempts: 2, next_at: NOON };
  yield* run(query.insertInto("file_deletion").values(lost));
  yield* run(query.insertInto("file_link_key").values({ id: 1, key: Buffer.alloc(32, 6) }));
  const bytes = Buffer.from([0, 255, 39]);
  yield* run(
    query
      .insertInto("file_chunk")
      .values({ file_id: owned[0].id, position: 0, bytes: Buffer.alloc(262_144, 0xc3) }),
  );
  yield* run(query.insertInto("file_chunk").values({ file_id: owned[0].id, position: 1, bytes }));
  yield* run(query.insertInto("file_chunk").values({ file_id: owned[1].id, position: 0, bytes }));
}
