import { query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import { listEndpoints } from "../endpoints/endpoint-store.ts";
import { judge } from "../spam/judge.ts";
import { noHistory } from "../spam/spam-history.ts";
import { applyChoices, type SpamChoices, type SpamSettings } from "../spam/spam-settings.ts";
import type { SpamClass, SpamReason, SpamVerdict } from "../spam/spam-verdict.ts";
import { numberOfEndpoint } from "./endpoint-number.ts";
import { postOf } from "./mark-submission.ts";
import { readChoices, type SpamScope } from "../endpoints/spam-choices-store.ts";
import { type ChosenScope, requireCustomSpam } from "../endpoints/choose-spam.ts";
import type { Plans } from "../workspaces/workspace.ts";

/** Posts that a preview judges: the newest submissions and held posts. */
const MAX_POSTS = 500;

/** The effect that a change of settings would have had on the last posts. */
export interface Preview {
  readonly posts: number;
  /** Posts with another score, newest first; `reasons` are those after the change. */
  readonly changes: readonly {
    readonly id: string;
    readonly before: { readonly score: number; readonly class: SpamClass };
    readonly after: { readonly score: number; readonly class: SpamClass };
    readonly reasons: readonly SpamReason[];
  }[];
}

/**
 * Judges the last posts with the present and with the changed settings. Both without history, and without the facts that are not
 * stored: fill time, honeypots and headers.
 *
 * @throws plan_limit if the plan does not include own settings.
 */
export function* previewChoices(
  { scope, workspace: { plan } }: ChosenScope,
  choices: SpamChoices,
  { plans, defaults }: { readonly plans: Plans; readonly defaults: SpamSettings },
): Steps<Preview> {
  requireCustomSpam(plan, plans);
  const workspace = yield* readChoices({ kind: "workspace", workspaceId: scope.workspaceId });
  const before = settingsOf(defaults, workspace, scope.kind === "endpoint" ? yield* readChoices(scope) : {});
  const after =
    scope.kind === "endpoint" ? settingsOf(defaults, workspace, choices) : settingsOf(defaults, choices, {});
  const posts = yield* lastPosts(scope);
  const changes = posts.flatMap(({ id, data, ip_address, user_agent }) => {
    const post = postOf({
      data: JSON.parse(data) as Record<string, unknown>,
      ipAddress: ip_address,
      userAgent: user_agent,
    });
    const now = judge(post, before, noHistory);
    const then = judge(post, after, noHistory);
    if (now.score === then.score) return [];
    return [{ id, before: brief(now), after: brief(then), reasons: then.reasons }];
  });
  return { posts: posts.length, changes };
}

function settingsOf(defaults: SpamSettings, workspace: SpamChoices, endpoint: SpamChoices): SpamSettings {
  return applyChoices(applyChoices(defaults, workspace), endpoint);
}

function brief({ score, spamClass }: SpamVerdict): { score: number; class: SpamClass } {
  return { score, class: spamClass };
}

interface LastPost {
  readonly id: string;
  readonly data: string;
  readonly ip_address: string;
  readonly user_agent: string;
  readonly created_at: number;
}

function* lastPosts(scope: SpamScope): Steps<LastPost[]> {
  const endpoints =
    scope.kind === "endpoint"
      ? [scope.endpointId]
      : (yield* listEndpoints(scope.workspaceId)).map(({ id }) => id);
  const columns = ["id", "data", "ip_address", "user_agent", "created_at"] as const;
  const newest: LastPost[] = [];
  for (const endpointId of endpoints) {
    const held = query.selectFrom("held").where("endpoint_id", "=", endpointId);
    const stored = query.selectFrom("submission").where("endpoint_number", "=", numberOfEndpoint(endpointId));
    newest.push(...(yield* all(stored.select(columns).orderBy("id", "desc").limit(MAX_POSTS))));
    newest.push(...(yield* all(held.select(columns).orderBy("id", "desc").limit(MAX_POSTS))));
  }
  return newest.sort((a, b) => b.created_at - a.created_at).slice(0, MAX_POSTS);
}
