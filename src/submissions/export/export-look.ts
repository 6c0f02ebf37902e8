import type { Steps } from "../../database/steps.ts";
import { listEndpointNames } from "../../endpoints/viewable-endpoints.ts";
import { createZonedClock } from "../../foundation/zoned-time.ts";
import type { Context } from "../../operations/operation.ts";
import { labelWorkspaces } from "../../workspaces/label-workspaces.ts";
import { readTimeZone } from "../../workspaces/workspace-settings.ts";
import { checkTimeZone } from "../../workspaces/workspace.ts";
import type { ColumnOrder, Look } from "./export-columns.ts";
import type { SubmissionFilter } from "../stored/submission-store.ts";

/** The choices of a caller about the look of a table of submissions. */
export interface AskedLook {
  readonly format: string;
  readonly columns: ColumnOrder | null;
  readonly labels: boolean;
  readonly timeZone: string | null;
}

const UTC = "UTC";

/** @throws usage for a time zone that does not exist */
export function* readLook(
  { viewing }: Pick<Context, "viewing">,
  { endpointIds }: Pick<SubmissionFilter, "endpointIds">,
  { format, columns, labels, timeZone }: AskedLook,
): Steps<Look> {
  const order = format === "xlsx" ? "people" : (columns ?? "technical");
  const zone = timeZone === null ? null : (checkTimeZone(timeZone) ?? UTC);
  if (order === "technical") {
    const clock = zone === null ? null : createZonedClock(zone);
    return { order, hasLabels: labels, clock, formName: (id) => id };
  }
  const wanted = endpointIds === null ? null : new Set(endpointIds);
  const forms = (yield* listEndpointNames(viewing, null)).filter(({ id }) => wanted?.has(id) ?? true);
  const workspaces = [...new Set(forms.map(({ workspaceId }) => workspaceId))];
  const labelsOf = yield* labelWorkspaces(workspaces);
  const [only, ...others] = workspaces;
  const own = only === undefined || others.length > 0 ? null : yield* readTimeZone(only);
  const names = new Map(
    forms.map(({ id, name, workspaceId }) => [
      id,
      others.length === 0 ? name : `${labelsOf.get(workspaceId) ?? workspaceId}/${name}`,
    ]),
  );
  return {
    order,
    hasLabels: true,
    clock: createZonedClock(zone ?? own ?? UTC),
    formName: (id) => names.get(id) ?? id,
  };
}
