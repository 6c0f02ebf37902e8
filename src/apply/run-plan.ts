import type { FormsChange, ChangeOutcome, Plan } from "./change.ts";
import type { PerformAnywhere } from "./read-current.ts";

export interface Applying {
  readonly perform: PerformAnywhere;
  /** Called for each change when it is done, with what came of it. */
  readonly onDone: (change: FormsChange, outcome: ChangeOutcome) => void;
}

/** One change after the other, up to the first that is refused; what was done before it stays. @throws what it is refused with */
export async function runPlan({ changes }: Plan, { perform, onDone }: Applying): Promise<void> {
  for (const change of changes) onDone(change, await change.run(perform));
}
