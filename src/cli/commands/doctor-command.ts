import type { AnyDatabase } from "../../database/any-database.ts";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { SECRET_LISTS } from "../../app/features.ts";
import { openObjects } from "../../app/open-objects.ts";
import { loadConfig } from "../../config/load-config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../database/sqlite/open-database.ts";
import { examine, unexamined } from "../../doctor/examine.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { type Finding, problem } from "../../foundation/finding.ts";
import { addCommand, command, type CommandContext } from "../command.ts";
import { describeHint } from "../output/hints.ts";
import { openAddress, readConfig } from "../open.ts";

export function register(program: Command): void {
  addCommand(program, doctor);
}

const doctor = command({
  usage: "doctor",
  summary: "Check the database, the machine and the configuration; exits with 1 if somebody should act",
  examples: ["formsvc doctor", "15 * * * *  formsvc doctor --quiet     # cron mails what it prints"],
  action: async (context) => {
    const findings = await examineMachine(context);
    const problems = findings.filter(({ ok }) => !ok);
    print(context, findings);
    if (problems.length > 0) {
      throw new FormsvcError("failed", problems.length === 1 ? "1 problem" : `${problems.length} problems`);
    }
  },
});

/** Examines the machine without changing anything: it neither creates a database nor migrates one. */
async function examineMachine(context: CommandContext): Promise<Finding[]> {
  const config = readConfig(context);
  const { path, url } = config.database;
  if (url === null && !existsSync(path)) {
    const advice = "name it with --db, or begin with: formsvc init";
    return [problem("database.file", `${resolve(path)}: there is none`, advice)];
  }
  let db: AnyDatabase;
  try {
    db =
      url === null ? openDatabase(path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS }) : await openAddress(url);
  } catch (error) {
    return [unexamined(error, url === null ? "sqlite" : "postgresql")];
  }
  try {
    const loaded = loadConfig(context.configFile);
    const now = context.clock.now();
    openObjects({ db, config });
    return await examine({ db, config, loaded, secretLists: SECRET_LISTS, now }, "thorough");
  } finally {
    await db.close();
  }
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
