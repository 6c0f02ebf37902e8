import { setTimeout as sleep } from "node:timers/promises";
import { type TokenActor, viewingOf } from "../operations/actor.ts";
import type { Steps } from "../database/steps.ts";
import { type Door, stepsOf } from "../operations/perform.ts";
import { reachHeldPost } from "../submissions/manage/reach-posts.ts";
import { requireAnywhere } from "../workspaces/standing.ts";
import { type ApiParts, NO_FILE, type ServedParts } from "./parts.ts";
import type { ApiRoute } from "./routes.ts";

/**
 * Before a body is read: whether the role of the token's account is enough for what the address names, or anywhere if it names nothing.
 *
 * @throws forbidden naming the role; not_found for what is not visible
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

/** Looks whether what a path names is there, and the role enough for it, as steps that throw not_found or forbidden; null if it names nothing. */
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
