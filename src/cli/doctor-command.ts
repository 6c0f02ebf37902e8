import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { SECRET_LISTS } from "../app.ts";
import type { Config } from "../config/config.ts";
import { checkMetricsAddress, checkSecretsInFile, checkTrustedProxies } from "../config/config-health.ts";
import { loadConfig, type LoadedConfig } from "../config/load-config.ts";
import { backupFolder, checkBackups, listScheduledBackups } from "../database/sqlite/backup-schedule.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import {
  checkDiskSpace,
  checkDurability,
  checkFileModes,
  checkIntegrity,
  checkLogSize,
  checkSchemaVersion,
  checkStructure,
} from "../database/sqlite/database-health.ts";
import { checkLeftovers } from "../database/sqlite/leftover-health.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Finding, problem } from "../foundation/finding.ts";
import { checkLeakedKeys } from "../keys/key-health.ts";
import { checkSecrets } from "../secrets/secrets-health.ts";
import { checkClock } from "../submissions/clock-health.ts";
import { checkHeldRoom } from "../submissions/held-health.ts";
import { checkFailedDeliveries, checkReceivers } from "../webhooks/webhook-health.ts";
import { findUntrustedProxy } from "../submissions/untrusted-proxy.ts";
import { checkMonthlyLimits } from "../workspaces/workspace-health.ts";
import { addCommand, command, type CommandContext } from "./command.ts";
import { describeFailure, describeHint } from "./hints.ts";
import { readConfig } from "./open.ts";

export function register(program: Command): void {
  addCommand(program, doctor);
}

interface Patient {
  readonly db: SqliteDatabase;
  readonly config: Config;
  readonly loaded: LoadedConfig;
  readonly now: number;
  /** Whether every table exists and has the structure of this version. */
  readonly hasItsTables: boolean;
}

type Findings = Finding | readonly Finding[];
type Check = (patient: Patient) => Findings | Promise<Findings>;

/** In the order of the output. A feature with something that can go wrong adds its checks here. */
const CHECKS: readonly Check[] = [
  ({ db }) => checkDurability(db),
  ({ db }) => checkIntegrity(db),
  ({ db }) => checkSchemaVersion(db),
  ({ db }) => checkStructure(db),
  ({ db }) => checkLogSize(db),
  ({ db }) => checkDiskSpace(db),
  ofTables(({ db, now }) => db.read(() => checkClock(now))),
  ({ db, config }) => checkFileModes(db, listBackups(config)),
  ({ db, config, now }) => checkLeftovers(db, backupFolder(config.backup, config.database.path), now),
  ({ loaded }) => checkSecretsInFile(loaded),
  ({ config }) => checkMetricsAddress(config.metrics),
  ofTables(async ({ db, loaded, now }) =>
    checkTrustedProxies(loaded, await db.read(findUntrustedProxy), now),
  ),
  ({ db, config, now }) =>
    checkBackups(db, config.backup, backupFolder(config.backup, config.database.path), now),
  ofTables(({ db, config }) => db.read(() => checkSecrets(SECRET_LISTS, config.secrets))),
  ofTables(({ db, now }) => db.read(() => checkLeakedKeys(now))),
  ofTables(({ db, now }) => db.read(() => checkReceivers(now))),
  ofTables(({ db }) => db.read(checkFailedDeliveries)),
  ofTables(({ db, config, now }) => db.read(() => checkMonthlyLimits(config.plans, now))),
  ofTables(({ db, config }) => db.read(() => checkHeldRoom(config.held.maxPerWorkspace))),
];

/** A check that reads tables: skipped if `database.schema` or `database.structure` reports a problem. */
function ofTables(check: Check): Check {
  return (patient) => (patient.hasItsTables ? check(patient) : []);
}

const doctor = command({
  usage: "doctor",
  summary: "Check the database, the machine and the configuration; exits with 1 if somebody should act",
  examples: ["formsvc doctor", "15 * * * *  formsvc doctor --quiet     # cron mails what it prints"],
  action: async (context) => {
    const findings = await examine(context);
    const problems = findings.filter(({ ok }) => !ok);
    print(context, findings);
    if (problems.length > 0) {
      throw new FormsvcError("failed", problems.length === 1 ? "1 problem" : `${problems.length} problems`);
    }
  },
});

/** Changes nothing: it neither creates a database nor migrates one. */
async function examine(context: CommandContext): Promise<Finding[]> {
  const config = readConfig(context);
  const path = resolve(config.database.path);
  if (!existsSync(path)) {
    return [
      problem("database.file", `${path}: there is none`, "name it with --db, or begin with: formsvc init"),
    ];
  }
  let db: SqliteDatabase;
  try {
    db = openDatabase(path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  } catch (error) {
    return [failed(error)];
  }
  try {
    const loaded = loadConfig(context.configFile);
    const patient = { db, config, loaded, now: context.clock.now(), hasItsTables: hasItsTables(db) };
    const findings: Findings[] = [];
    for (const check of CHECKS) {
      try {
        findings.push(await check(patient));
      } catch (error) {
        findings.push(failed(error));
      }
    }
    return findings.flat();
  } finally {
    db.close();
  }
}

function hasItsTables(db: SqliteDatabase): boolean {
  try {
    return [checkSchemaVersion(db), checkStructure(db)].every(({ ok }) => ok);
  } catch {
    // Both checks run again and report the reason.
    return false;
  }
}

/** A check that fails to run is a finding itself, and the others continue. */
function failed(error: unknown): Finding {
  if (!(error instanceof FormsvcError)) throw error;
  return problem(
    "database.file",
    describeFailure(error),
    "do what it says; if the file is damaged: formsvc restore FILE",
  );
}

function listBackups({ backup, database }: Config): string[] {
  return listScheduledBackups(backupFolder(backup, database.path)).map(({ file }) => file);
}

function print({ output }: CommandContext, findings: readonly Finding[]): void {
  const checks = findings.map((finding) => ({ ...finding, advice: describeAdvice(finding) }));
  if (output.isJson) {
    output.json({ healthy: checks.every(({ ok }) => ok), checks });
    return;
  }
  for (const { name, ok, message, advice } of checks) {
    const line = `${ok ? "ok     " : "PROBLEM"}  ${name.padEnd(20)}  ${message}`;
    if (ok) output.note(line);
    else output.line(`${line}\n         ${" ".repeat(20)}  -> ${advice ?? ""}`);
  }
}

function describeAdvice({ advice }: Finding): string | null {
  return advice === null || typeof advice === "string" ? advice : describeHint(advice);
}
