import { setTimeout as sleep } from "node:timers/promises";
import { type TokenActor, viewingOf } from "../operations/actor.ts";
import type { Steps } from "../database/steps.ts";
import { type Door, stepsOf } from "../operations/perform.ts";
import { reachHeldPost } from "../submissions/manage/reach-posts.ts";
import { requireAnywhere } from "../workspaces/standing.ts";
import { type ApiParts, NO_FILE, type ServedParts } from "./parts.ts";
import type { ApiRoute } from "./routes.ts";

/**
 * Called before a body is read: checks that the role of the token's account is enough for the row that the address names, or in any
 * workspace if it names none.
 *
 * @throws forbidden naming the role; not_found for a row that is not visible
 */
export async function requireRole(
  route: ApiRoute,
  parts: ServedParts,
  actor: TokenActor,
  params: Readonly<Record<string, string>>,
): Promise<void> {
  if (route.method === "GET") return;
  const { db, config, clock, onChange } = parts;
  const door = {
    db,
    config,
    now: clock.now(),
    actor,
    parts: { ...parts, source: NO_FILE, committed: () => sleep(0) },
    onChange,
  };
  const named = reachNamed(route, door, params);
  await db.read(named ?? (() => requireAnywhere(viewingOf(actor), route.operation.access)));
}

/** Returns a read of the row that the path names; null if it names none. The read throws not_found or forbidden. */
export function reachNamed(
  { operation: { access }, shownBy }: ApiRoute,
  door: Door<ApiParts>,
  params: Readonly<Record<string, string>>,
): (() => Steps<unknown>) | null {
  if (shownBy !== null) return stepsOf(door, shownBy, params, access);
  const { held } = params;
  if (held === undefined) return null;
  return () => reachHeldPost({ viewing: viewingOf(door.actor), access }, held);
}
