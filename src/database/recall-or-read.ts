import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Database } from "./database.ts";
import { resumeSteps, type Steps } from "./steps.ts";

/** Runs steps that only read. If they need no statement, because the result is in memory, it is returned at once. */
export function recallOrRead<Result>(db: Database, work: () => Steps<Result>): MaybeLater<Result> {
  const steps = work();
  const begun = steps.next();
  if (begun.done === true) return begun.value;
  let rest: Steps<Result> | null = resumeSteps(steps, begun.value);
  return db.read(() => {
    const own = rest ?? work();
    rest = null;
    return own;
  });
}
