import { query } from "../database/database.ts";
import { first, run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { applyChoices, type SpamChoices, type SpamSettings } from "../spam/spam-settings.ts";

/** Who owns the choices: a workspace, or one of its endpoints, whose choices override the workspace's. */
export type SpamScope =
  | { readonly kind: "workspace"; readonly workspaceId: string }
  | { readonly kind: "endpoint"; readonly workspaceId: string; readonly endpointId: string };

/** The choices of this owner; empty if there are none. */
export function* readChoices(scope: SpamScope): Steps<SpamChoices> {
  const row =
    scope.kind === "workspace"
      ? yield* first(
          query.selectFrom("workspace_spam").select("choices").where("workspace_id", "=", scope.workspaceId),
        )
      : yield* first(
          query.selectFrom("endpoint_spam").select("choices").where("endpoint_id", "=", scope.endpointId),
        );
  return row === undefined ? {} : (JSON.parse(row.choices) as SpamChoices);
}

/** Stores choices. They apply at once, and in running servers within a second. */
export function* writeChoicesRow(scope: SpamScope, choices: SpamChoices): Steps<void> {
  const json = JSON.stringify(choices);
  if (scope.kind === "workspace") {
    yield* run(
      query
        .insertInto("workspace_spam")
        .values({ workspace_id: scope.workspaceId, choices: json })
        .onConflict((conflict) => conflict.column("workspace_id").doUpdateSet({ choices: json })),
    );
  } else {
    yield* run(
      query
        .insertInto("endpoint_spam")
        .values({ endpoint_id: scope.endpointId, choices: json })
        .onConflict((conflict) => conflict.column("endpoint_id").doUpdateSet({ choices: json })),
    );
  }
  yield* raiseSettingsVersion(scope.kind === "workspace" ? scope.workspaceId : scope.endpointId);
}

/** The settings in force. The choices count only on plans that allow them. */
export function* settingsFor(
  scope: SpamScope,
  defaults: SpamSettings,
  customSpam: boolean,
): Steps<SpamSettings> {
  if (!customSpam) return defaults;
  const shared = applyChoices(
    defaults,
    yield* readChoices({ kind: "workspace", workspaceId: scope.workspaceId }),
  );
  return scope.kind === "workspace" ? shared : applyChoices(shared, yield* readChoices(scope));
}
