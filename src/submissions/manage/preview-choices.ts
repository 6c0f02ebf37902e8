import { type Database, query } from "../../database/database.ts";
import { yieldToOthers, readSlice } from "../../database/slices.ts";
import { all, first, type Steps } from "../../database/steps.ts";
import { isId } from "../../foundation/id.ts";
import { listEndpoints } from "../../endpoints/endpoint-store.ts";
import { scoreSpam } from "../../spam/score-spam.ts";
import { noHistory } from "../../spam/spam-history.ts";
import type { SpamPost } from "../../spam/spam-post.ts";
import { applyChoices, type SpamChoices, type SpamSettings } from "../../spam/spam-settings.ts";
import type { SpamClass, SpamReason, SpamVerdict } from "../../spam/spam-verdict.ts";
import { numberOfEndpoint } from "../stored/endpoint-number.ts";
import { postOf } from "../stored/mark-submission.ts";
import { readChoices, type SpamScope } from "../../endpoints/spam-choices-store.ts";
import { type ChosenScope, requireCustomSpam } from "../../endpoints/choose-spam.ts";
import type { Plans } from "../../workspaces/workspace.ts";

/** The largest number of posts that a preview scores: the newest submissions and held posts. */
const MAX_POSTS = 500;

/** The effect that a change of settings would have had on the last posts. */
export interface Preview {
  readonly posts: number;
  /** The posts whose score would change, newest first; `reasons` are those after the change. */
  readonly changes: readonly Change[];
}

interface Change {
  readonly id: string;
  readonly before: Brief;
  readonly after: Brief;
  readonly reasons: readonly SpamReason[];
}

interface Brief {
  readonly score: number;
  readonly class: SpamClass;
}

/** What a preview needs besides the settings to try. */
interface PreviewParts {
  readonly plans: Plans;
  readonly defaults: SpamSettings;
  /** Ends the preview, with its reason, when nobody waits for it any more. */
  readonly gone?: AbortSignal | undefined;
}

/**
 * Scores the last posts with the present settings and with the changed ones. Both scores leave out the workspace's history and the facts
 * that are not stored: fill time, honeypots and headers. All other work may go on between two posts.
 *
 * @throws plan_limit if the plan does not include own settings; the reason of `gone`.
 */
export async function previewChoices(
  db: Database,
  { scope, workspace: { plan } }: ChosenScope,
  choices: SpamChoices,
  { plans, defaults, gone }: PreviewParts,
): Promise<Preview> {
  requireCustomSpam(plan, plans);
  const changes: Change[] = [];
  const settings = new Map<string, SettingsAround>();
  let posts = 0;
  for (const { id, endpointId } of await listLastPosts(db, scope)) {
    const post = await readSlice(db, () => readPost(id), gone);
    if (post === undefined) continue;
    posts += 1;
    const known = settings.get(endpointId);
    const around = known ?? (await db.read(() => settingsAround({ scope, choices, defaults }, endpointId)));
    settings.set(endpointId, around);
    const { before, after } = around;
    const now = scoreSpam(post, before, noHistory);
    await yieldToOthers();
    const then = scoreSpam(post, after, noHistory);
    if (now.score !== then.score)
      changes.push({ id, before: brief(now), after: brief(then), reasons: then.reasons });
  }
  return { posts, changes };
}

/** The settings in force for an endpoint before and after the change. */
interface SettingsAround {
  readonly before: SpamSettings;
  readonly after: SpamSettings;
}

interface ChangeOfChoices {
  readonly scope: SpamScope;
  readonly choices: SpamChoices;
  readonly defaults: SpamSettings;
}

/** An endpoint's own choices count too if those of its workspace change. */
function* settingsAround(
  { scope, choices, defaults }: ChangeOfChoices,
  endpointId: string,
): Steps<SettingsAround> {
  const { workspaceId } = scope;
  const workspace = yield* readChoices({ kind: "workspace", workspaceId });
  const endpoint = yield* readChoices({ kind: "endpoint", workspaceId, endpointId });
  const after =
    scope.kind === "workspace"
      ? settingsOf(defaults, choices, endpoint)
      : settingsOf(defaults, workspace, choices);
  return { before: settingsOf(defaults, workspace, endpoint), after };
}

function settingsOf(defaults: SpamSettings, workspace: SpamChoices, endpoint: SpamChoices): SpamSettings {
  return applyChoices(applyChoices(defaults, workspace), endpoint);
}

function brief({ score, spamClass }: SpamVerdict): Brief {
  return { score, class: spamClass };
}

interface LastPost {
  readonly id: string;
  readonly endpointId: string;
  readonly createdAt: number;
}

/** The newest submissions and held posts, newest first. */
async function listLastPosts(db: Database, scope: SpamScope): Promise<LastPost[]> {
  const endpoints =
    scope.kind === "endpoint"
      ? [scope.endpointId]
      : (await db.read(() => listEndpoints(scope.workspaceId))).map(({ id }) => id);
  const newest: LastPost[] = [];
  for (const endpointId of endpoints) newest.push(...(await readSlice(db, () => listNewest(endpointId))));
  return newest.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, MAX_POSTS);
}

function* listNewest(endpointId: string): Steps<LastPost[]> {
  const held = query.selectFrom("held").where("endpoint_id", "=", endpointId);
  const stored = query
    .selectFrom("submission")
    .where("endpoint_number", "=", numberOfEndpoint(endpointId))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom("submission_bin").select("id").whereRef("submission_bin.id", "=", "submission.id"),
        ),
      ),
    );
  const columns = ["id", "created_at"] as const;
  const rows = [
    ...(yield* all(stored.select(columns).orderBy("id", "desc").limit(MAX_POSTS))),
    ...(yield* all(held.select(columns).orderBy("id", "desc").limit(MAX_POSTS))),
  ];
  return rows.map(({ id, created_at: createdAt }) => ({ id, endpointId, createdAt }));
}

/** Undefined if the post was deleted meanwhile. */
function* readPost(id: string): Steps<SpamPost | undefined> {
  const columns = ["data", "ip_address", "user_agent"] as const;
  const row = isId("held", id)
    ? yield* first(query.selectFrom("held").select(columns).where("id", "=", id))
    : yield* first(query.selectFrom("submission").select(columns).where("id", "=", id));
  if (row === undefined) return undefined;
  const data = JSON.parse(row.data) as Record<string, unknown>;
  return postOf({ data, ipAddress: row.ip_address, userAgent: row.user_agent });
}
