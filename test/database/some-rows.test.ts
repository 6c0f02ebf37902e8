import type { Client } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { dropOldChanges } from "../../src/audit/audit-store.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { openPostgresql } from "../../src/database/postgresql/open-postgresql.ts";
import type { Steps } from "../../src/database/steps.ts";
import { addRefusals } from "../../src/endpoints/refused-origins.ts";
import { dropOldUploads } from "../../src/files/file-room.ts";
import { dropOldLetters } from "../../src/mail/letters/letter-store.ts";
import { dropOldAnswers } from "../../src/operations/kept-answers.ts";
import { dropOldUse } from "../../src/outbox/queue/quotas.ts";
import { dropOldAddresses } from "../../src/sessions/known-clients.ts";
import { dropOldMailedLinks, makeMailedLink } from "../../src/sessions/mailed-link.ts";
import { dropEndedSessions } from "../../src/sessions/session.ts";
import { forgetExpired, forgetKeysOf } from "../../src/submissions/commit/idempotency.ts";
import { forgetProofs } from "../../src/submissions/commit/spent-proofs.ts";
import { dropExpired, dropHeldPostsOf, moveHeldPostsOf } from "../../src/submissions/held/held-post.ts";
import { forgetImportedOf, knownRows } from "../../src/submissions/import/imported-rows.ts";
import { expireSubmissions } from "../../src/submissions/stored/retention.ts";
import { deleteBinRows, emptyOldBin, listBinned } from "../../src/submissions/stored/submission-bin.ts";
import { deleteSubmissionsOf } from "../../src/submissions/stored/submission-store.ts";
import { dropOldInvitations } from "../../src/workspaces/invitation-store.ts";
import { type Filled, fillEveryTable } from "../support/full-database.ts";
import { growSql } from "../support/grow-table.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { workOf } from "../support/steps-on-connection.ts";
import { addressForFile, hasPostgresql } from "../support/temporary-postgresql.ts";

/** More than ten pages of each table: for a smaller one PostgreSQL does not believe that it is empty. */
const ROWS = 4000;
/** A statement with a linear plan reads, sorts and deletes each row. A join of 200 rows with each row is 200 times as much. */
const MOST = 12 * ROWS;

const id = (prefix: string): string => `'${prefix}_01' || lpad(number::text, 24, '0')`;
const HASH = "sha256(number::text::bytea)";
const ADDRESS = "number || '@example.org'";

/** What differs between the rows of a table, which are otherwise like its first row, as SQL. */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  idempotency: { key_hash: HASH, created_at: "number" },
  spent_proof: { id: HASH, expires_at: "number" },
  held: { id: id("held"), key_hash: HASH, sent_key_hash: HASH },
  submission: { id: id("sub") },
  submission_bin: { id: id("sub"), deleted_at: "number" },
  upload_use: { day: "'2020-01-01'", unit: "number::text" },
  session: { id: id("ses"), secret_hash: HASH, seen_at: "number" },
  mailed_link: { token_hash: HASH, email: ADDRESS, created_at: "number" },
  invitation: { id: id("inv"), email: ADDRESS, handed_hash: HASH, mailed_hash: HASH, created_at: "number" },
  known_address: { address_hash: HASH, seen_at: "number" },
  audit_event: { at: "number" },
  api_answer: { key_hash: HASH, created_at: "number" },
  letter: { id: id("msg"), state: "'delivered'", finished_at: "number", recipient_id: "NULL" },
  quota_use: { key: HASH, expires_at: "number" },
  imported_row: { row_hash: "number::text" },
  refused_origin: { origin: "number::text" },
};

const NOW = Date.UTC(2030, 0);
const listed = Array.from({ length: 1000 }, (_, index) => `sub_01${String(index).padStart(24, "0")}`);
const hashes = Array.from({ length: 1000 }, (_, index) => String(index));

const WORK: Readonly<Record<string, (endpointId: string) => Steps<unknown>>> = {
  "changes that are too old": () => dropOldChanges(NOW),
  "Idempotency-Keys": () => forgetExpired(NOW),
  "Idempotency-Keys of an endpoint": (endpointId) => forgetKeysOf(endpointId, 500),
  proofs: () => forgetProofs(NOW),
  "held posts that have expired": () => dropExpired(1, NOW),
  "held posts of an endpoint": (endpointId) => dropHeldPostsOf([endpointId], "held_z"),
  uploads: () => dropOldUploads(NOW),
  sessions: () => dropEndedSessions(NOW, defaultConfig.dashboard),
  "mailed links": () => dropOldMailedLinks(NOW),
  invitations: () => dropOldInvitations(NOW),
  addresses: () => dropOldAddresses(NOW),
  answers: () => dropOldAnswers(NOW),
  letters: () => dropOldLetters(1, NOW),
  quotas: () => dropOldUse(NOW),
  "imported rows": (endpointId) => forgetImportedOf(endpointId, 500),
  "refused origins": (endpointId) => addRefusals([{ endpointId, origin: "x", posts: 1, lastAt: 1 }]),
  "old submissions": () => expireSubmissions(1, NOW),
  "an old bin": () => emptyOldBin(1, NOW, 200),
  "submissions of an endpoint": (endpointId) => deleteSubmissionsOf(endpointId, 200),
  "held posts of a form that has moved": (endpointId) => moveHeldPostsOf(endpointId, "ws_other", 500),
  "a mailed link too many": () => makeMailedLink("reset", "ana@example.org", NOW),
  "listed submissions that leave the bin": () => deleteBinRows(listed),
  "listed submissions in the bin": () => listBinned(listed),
  "listed rows that were imported": (endpointId) => knownRows(endpointId, hashes),
};

/** Connections to a database whose tables have grown since PostgreSQL counted their rows. */
interface Grown {
  readonly client: Client;
  readonly filled: Filled;
  end(): Promise<void>;
}

async function grown(): Promise<Grown> {
  const address = await addressForFile();
  const db = await openPostgresql(address);
  const filled = await fillEveryTable(db);
  await db.close();
  const [client, other] = [await connectPlainly(address), await connectPlainly(address)];
  // No trigger runs, and no row has to exist that others refer to.
  await client.query("SET session_replication_role = replica");
  for (const [table, columns] of Object.entries(TABLES)) {
    await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    await client.query("BEGIN");
    await client.query(await growSql(client, table, { rows: ROWS, given: columns }));
    // An analysis does not count the rows of a transaction that has not ended.
    await other.query(`ANALYZE ${table}`);
    await client.query("COMMIT");
  }
  await other.end();
  return { client, filled, end: () => client.end() };
}

describe.skipIf(!hasPostgresql)(
  "on PostgreSQL that believes tables to be empty that have thousands of rows",
  () => {
    let grew: Grown;
    beforeAll(async () => {
      grew = await grown();
      return () => grew.end();
    });

    test.each(Object.entries(WORK))(
      "a batch of %s is found without comparing it with each row",
      async (_, work) => {
        const [endpointId = ""] = grew.filled.endpointIds;
        const done = await workOf(grew.client, work(endpointId));
        expect(done.filter(({ rows }) => rows > MOST)).toEqual([]);
        expect(done.length).toBeGreaterThan(0);
      },
    );
  },
);
