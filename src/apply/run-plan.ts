import type { FormsChange, ChangeOutcome, Plan } from "./change.ts";
import type { PerformAnywhere } from "./read-current.ts";

export interface Applying {
  readonly perform: PerformAnywhere;
  /** Called after each change, with its outcome. */
  readonly onDone: (change: FormsChange, outcome: ChangeOutcome) => void;
}

/** Makes one change after the other, up to the first that is refused. Earlier changes stay. @throws the error of the refused change */
export async function runPlan({ changes }: Plan, { perform, onDone }: Applying): Promise<void> {
  for (const change of changes) onDone(change, await change.run(perform));
}
