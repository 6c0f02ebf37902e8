import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import type { SpamChoices } from "../spam/spam-settings.ts";
import type { Plans } from "../workspaces/workspace.ts";
import { changeSpam, type ChosenScope } from "./choose-spam.ts";

/** As {@link changeSpam}. @throws plan_limit, not_found */
export function* setSpam(
  actor: Actor | null,
  chosen: ChosenScope,
  { choices, plans }: { readonly choices: SpamChoices; readonly plans: Plans },
  now: number,
): Steps<SpamChoices> {
  const { scope } = chosen;
  const { workspaceId } = scope;
  const subject = scope.kind === "endpoint" ? scope.endpointId : workspaceId;
  yield* recordChange(actor, { action: "spam.set", subject, workspaceId, detail: null }, now);
  return yield* changeSpam(chosen, choices, plans);
}
