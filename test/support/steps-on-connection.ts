import type { Client } from "pg";
import { lookUpListed } from "../../src/database/list-parameter.ts";
import { numberMarks } from "../../src/database/number-parameters.ts";
import { toParameter } from "../../src/database/postgresql/to-parameter.ts";
import type { Steps } from "../../src/database/steps.ts";

/** The plan of a statement as it was run, with the numbers of `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)`. */
interface Plan {
  readonly "Actual Loops": number;
  readonly "Actual Rows": number;
  readonly Operation?: string;
  readonly Plans?: readonly Plan[];
  readonly [figure: string]: unknown;
}

/** A statement, and the number of rows that its plan read, compared or passed on. */
interface Done {
  readonly sql: string;
  readonly rows: number;
  /** The pages that it looked at; a page counts each time. */
  readonly pages: number;
}

/** Runs steps on one connection of PostgreSQL, and takes back what they changed. Returns the work of each statement. */
export async function workOf(client: Client, steps: Steps<unknown>): Promise<Done[]> {
  const done: Done[] = [];
  await client.query("BEGIN");
  for (let step = steps.next(); step.done !== true;) {
    const { gives, built } = step.value;
    const { sql: common, parameters } = built.compile();
    const sql = numberMarks(lookUpListed(built.postgresql ?? common));
    const values = parameters.map(toParameter);
    const explained = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${sql}`,
      values,
    );
    const plan = explained.rows[0]?.["QUERY PLAN"][0].Plan;
    if (plan === undefined) throw new Error("no plan");
    const pages = Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"]);
    done.push({ sql, rows: rowsOf(plan), pages });
    step = steps.next(
      gives === "changes" ? (plan.Plans?.[0]?.["Actual Rows"] ?? 0) : await rows(sql, values, gives),
    );
  }
  await client.query("ROLLBACK");
  return done;

  async function rows(sql: string, values: unknown[], gives: "rows" | "row"): Promise<unknown> {
    const result = await client.query(sql, values);
    const read = result.rows.map((row: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toNumber(value)])),
    );
    return gives === "rows" ? read : read[0];
  }
}

/** The driver returns large whole numbers as text unless it is told otherwise. */
function toNumber(value: unknown): unknown {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

function rowsOf(plan: Plan): number {
  const figures = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter"];
  const own = figures.reduce((sum, figure) => sum + Number(plan[figure] ?? 0), 0);
  return own * plan["Actual Loops"] + (plan.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);
}
