import { setTimeout as sleep } from "node:timers/promises";
import { type TokenActor, viewingOf } from "../operations/actor.ts";
import { stepsOf } from "../operations/perform.ts";
import { requireAnywhere } from "../workspaces/standing.ts";
import type { ServedParts } from "./parts.ts";
import type { ApiRoute } from "./routes.ts";

/**
 * Before a body is read: whether the role of the token's account is enough for what the address names, or anywhere if it names nothing.
 *
 * @throws forbidden naming the role; not_found for what is not visible
 */
export async function requireRole(
  { method, operation, shownBy }: ApiRoute,
  parts: ServedParts,
  actor: TokenActor,
  params: Readonly<Record<string, string>>,
): Promise<void> {
  if (method === "GET") return;
  const { db, config, clock, onChange } = parts;
  if (shownBy === null) return db.read(() => requireAnywhere(viewingOf(actor), operation.access));
  const door = {
    db,
    config,
    now: clock.now(),
    actor,
    parts: { ...parts, committed: () => sleep(0) },
    onChange,
  };
  await db.read(stepsOf(door, shownBy, params, operation.access));
}
