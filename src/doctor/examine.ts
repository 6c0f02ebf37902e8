import type { AnyDatabase } from "../database/any-database.ts";
import type { Config } from "../config/config.ts";
import {
  checkDashboardAddress,
  checkMetricsAddress,
  checkSecretsInFile,
  checkTrustedProxies,
} from "../config/config-health.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { backupFolder, listScheduledBackups } from "../database/sqlite/backup-folder.ts";
import { checkBackups } from "../database/sqlite/backup-schedule.ts";
import {
  checkDiskSpace,
  checkDurability,
  checkFileModes,
  checkIntegrity,
  checkLogSize,
  checkSchemaVersion,
  checkStructure,
  freeBytes,
} from "../database/sqlite/database-health.ts";
import { checkLeftovers } from "../database/sqlite/leftover-health.ts";
import { yieldToOthers } from "../database/slices.ts";
import type * as PostgresqlHealth from "../database/postgresql/postgresql-health.ts";
import type { PostgresqlDatabase } from "../database/postgresql/open-postgresql.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { checkChallenges } from "../submissions/receive/challenge-health.ts";
import { objectsOf } from "../files/object-store.ts";
import { countBacklog } from "../files/scan-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Finding, problem } from "../foundation/finding.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import { checkRefusedOrigins } from "../submissions/receive/origin-health.ts";
import { checkLeakedKeys } from "../keys/key-health.ts";
import { checkAutoReplies } from "../mail/auto-reply/auto-reply-health.ts";
import { replyLimitsOf } from "../mail/auto-reply/reply-limits.ts";
import {
  checkFailedLetters,
  checkFailedMail,
  checkMailRecipients,
  checkMailServer,
} from "../mail/health/mail-health.ts";
import { checkMailNetwork, checkMailSecurity } from "../mail/health/relay-health.ts";
import { checkConditionFields } from "../recipients/condition-health.ts";
import { checkTokenExpiry } from "../tokens/token-health.ts";
import { checkIssuer } from "../sessions/oidc-health.ts";
import { checkSecrets } from "../secrets/secrets-health.ts";
import type { ListSecrets } from "../secrets/stored-secret.ts";
import { checkClock } from "../submissions/stored/clock-health.ts";
import {
  checkDeletions,
  checkFileChunks,
  checkFileRoom,
  checkUploadAddresses,
  checkStore,
} from "../submissions/files/files-health.ts";
import { checkHeldPostRoom } from "../submissions/held/held-health.ts";
import { heldByteLimit } from "../submissions/commit/held-room.ts";
import { checkIgnoredRedirects } from "../submissions/receive/page-faults.ts";
import { checkOftenSent } from "../submissions/receive/often-sent.ts";
import { checkScanner } from "../submissions/files/scanner-health.ts";
import { findUntrustedProxy } from "../submissions/receive/untrusted-proxy.ts";
import { checkFailedDeliveries, checkReceivers } from "../webhooks/webhook-health.ts";
import { checkDoubtfulAccounts } from "../workspaces/doubt-health.ts";
import { checkMonthlyLimits } from "../workspaces/workspace-health.ts";

/** What is examined, and with which configuration. */
export interface Patient {
  readonly db: AnyDatabase;
  /** The configuration that the examining program uses. */
  readonly config: Config;
  /** The same configuration as it was read, without the flags of the command line. */
  readonly loaded: LoadedConfig;
  readonly secretLists: readonly ListSecrets[];
  readonly now: number;
}

interface ExaminedPatient extends Patient {
  /** Whether every table exists and has the structure of this version. */
  readonly hasItsTables: boolean;
}

type Findings = Finding | readonly Finding[];
type Check = (patient: ExaminedPatient) => MaybeLater<Findings>;

/** Takes seconds for each GB of the file. */
const checkWholeFile = ofFile(checkIntegrity);

/** Asks other machines, which takes some seconds at most. */
const askNetwork: Check = ({ config }) => checkMailNetwork(config.mail, config.server.baseUrl);

const askIssuer: Check = ({ config }) => checkIssuer(config.oidc);

const askStore: Check = ({ db }) => checkStore(objectsOf(db));

const SLOW_CHECKS: ReadonlySet<Check> = new Set([checkWholeFile, askNetwork, askIssuer, askStore]);

/** All checks, in the order of the output. A feature in which something can go wrong adds its checks here. */
const CHECKS: readonly Check[] = [
  ofFile(checkDurability),
  checkWholeFile,
  ofFile(checkSchemaVersion),
  ofFile(checkStructure),
  ofFile(checkLogSize),
  ofFile(checkDiskSpace),
  ofPostgresql((db, { checkPostgresqlDurability }) => db.read(checkPostgresqlDurability)),
  ofPostgresql((db, { checkStandbys }) => db.read(checkStandbys)),
  ofPostgresql((db, { checkPostgresqlSchema }) => checkPostgresqlSchema(db)),
  ofTables(ofPostgresql((db, { checkRights }) => db.read(checkRights))),
  ofTables(ofPostgresql((db, { checkServers }) => checkServers(db))),
  ofPostgresql((db, { checkUpkeep }) => db.read(checkUpkeep)),
  ofPostgresql((db, { checkDatabaseClock }, { now }) => db.read(() => checkDatabaseClock(now))),
  ofTables(({ db, now }) => db.read(() => checkClock(now))),
  ofFile((db, { config }) => checkFileModes(db, listBackups(config))),
  ofFile((db, { config, now }) =>
    checkLeftovers(db, backupFolder(config.backup, config.database.path).directory, now),
  ),
  ({ loaded }) => checkSecretsInFile(loaded),
  ({ config }) => checkMetricsAddress(config.metrics),
  ({ config }) => checkDashboardAddress(config),
  ofTables(async ({ db, loaded, now }) =>
    checkTrustedProxies(loaded, await db.read(findUntrustedProxy), now),
  ),
  ofFile((db, { config, now }) =>
    checkBackups(db, config.backup, backupFolder(config.backup, config.database.path), now),
  ),
  ofTables(({ db, config, secretLists }) => db.read(() => checkSecrets(secretLists, config.secrets))),
  ofTables(({ db, now }) => db.read(() => checkLeakedKeys(now))),
  ofTables(({ db, now }) => db.read(() => checkTokenExpiry(now))),
  ofTables(({ db }) => db.read(checkRefusedOrigins)),
  ofTables(({ db }) => db.read(checkChallenges)),
  ofTables(({ db, now }) => db.read(() => checkReceivers(now))),
  ofTables(({ db }) => db.read(checkFailedDeliveries)),
  ofTables(({ db }) => db.read(checkConditionFields)),
  ofTables(({ db, config }) => db.read(() => checkMailServer(config.mail))),
  ({ config }) => checkMailSecurity(config.mail),
  askNetwork,
  askIssuer,
  ofTables(({ db, config }) => db.read(() => checkDoubtfulAccounts(config))),
  ofTables(({ db }) => db.read(checkMailRecipients)),
  ofTables(({ db }) => db.read(checkFailedMail)),
  ofTables(({ db, now }) => db.read(() => checkFailedLetters(now))),
  ofTables(({ db, config, now }) => db.read(() => checkAutoReplies(replyLimitsOf(config), now))),
  ofTables(({ db, config, now }) => db.read(() => checkMonthlyLimits(config.plans, now))),
  ofTables(({ db, config, now }) => {
    const free = db.engine === "sqlite" ? freeBytes(db) : null;
    const rules = { ...config.files, freeBytes: free, plans: config.plans };
    return db.read(() => checkFileRoom(rules, now));
  }),
  ofTables(({ db, config, now }) =>
    db.read(() => checkUploadAddresses(config.files.maxBytesPerAddressPerDay, now)),
  ),
  ofTables(({ db }) => db.read(checkFileChunks)),
  // What the server saw with the file store comes before a try of this process.
  ofTables(({ db, now }) => db.read(() => checkDeletions(objectsOf(db), now))),
  askStore,
  // The scanner usually runs on the same machine, so the page System asks it too.
  ofTables(async ({ db, config, now }) => checkScanner(config.files, await db.read(countBacklog), now)),
  ofTables(({ db, now }) => db.read(() => checkOftenSent(now))),
  ofTables(({ db, now }) => db.read(() => checkIgnoredRedirects(now))),
  ofTables(({ db, config }) => {
    const { maxPerWorkspace, maxBytes } = config.held;
    const free = (): number | null => (db.engine === "sqlite" ? freeBytes(db) : null);
    const rules = { maxPerWorkspace, maxBytes: heldByteLimit(maxBytes, free), plans: config.plans };
    return db.read(() => checkHeldPostRoom(rules));
  }),
];

/** A check of a database file. */
function ofFile(check: (db: SqliteDatabase, patient: Patient) => Findings): Check {
  return (patient) => (patient.db.engine === "sqlite" ? check(patient.db, patient) : []);
}

/** A check of a PostgreSQL database. For SQLite, nothing of PostgreSQL is loaded. */
function ofPostgresql(
  check: (db: PostgresqlDatabase, checks: typeof PostgresqlHealth, patient: Patient) => Promise<Findings>,
): Check {
  return async (patient) =>
    patient.db.engine === "postgresql"
      ? check(patient.db, await import("../database/postgresql/postgresql-health.ts"), patient)
      : [];
}

/** A check that reads tables. It is skipped if `database.schema` or `database.structure` reports a problem. */
function ofTables(check: Check): Check {
  return (patient) => (patient.hasItsTables ? check(patient) : []);
}

/**
 * Runs the checks; changes nothing.
 *
 * @param depth if `thorough`, the file is also read from beginning to end, which holds up everything else in this process, and other
 * machines are asked.
 */
export async function examine(patient: Patient, depth: "quick" | "thorough"): Promise<Finding[]> {
  const examined = { ...patient, hasItsTables: await hasItsTables(patient.db) };
  const findings: Finding[] = [];
  for (const check of CHECKS) {
    if (SLOW_CHECKS.has(check) && depth === "quick") continue;
    // A server takes posts between two checks.
    await yieldToOthers();
    try {
      findings.push(...[await check(examined)].flat());
    } catch (error) {
      const failed = unexamined(error, patient.db.engine);
      // Several checks may fail for one reason, for example because the database is of a newer version.
      if (!findings.some(({ message }) => message === failed.message)) findings.push(failed);
    }
  }
  return findings;
}

/**
 * The finding for what could not be examined, so that the other checks go on. Its name says what was in the way.
 *
 * @throws the error if it is not an expected one.
 */
export function unexamined(error: unknown, engine: AnyDatabase["engine"]): Finding {
  if (!(error instanceof FormsvcError)) throw error;
  const { code, message, facts } = error;
  const { hint = "do what it says" } = facts;
  if (code === "config_invalid") return problem("config.file", message, hint);
  if (!code.startsWith("database_")) return problem("doctor.check", message, hint);
  if (engine === "postgresql") return problem("database.server", message, hint);
  return problem("database.file", message, facts.hint ?? { kind: "heed_or_restore" });
}

async function hasItsTables(db: Patient["db"]): Promise<boolean> {
  try {
    if (db.engine === "sqlite") return [checkSchemaVersion(db), checkStructure(db)].every(({ ok }) => ok);
    const { checkPostgresqlSchema } = await import("../database/postgresql/postgresql-health.ts");
    return (await checkPostgresqlSchema(db)).ok;
  } catch {
    // The checks of `database.schema` and `database.structure` run again later, and report the reason.
    return false;
  }
}

function listBackups({ backup, database }: Config): string[] {
  return listScheduledBackups(backupFolder(backup, database.path)).map(({ file }) => file);
}
