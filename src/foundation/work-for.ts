import { AsyncLocalStorage } from "node:async_hooks";

const workspaces = new AsyncLocalStorage<string | null>();

/**
 * Runs work on behalf of a workspace, so that code far below it, in a package's callbacks too, can share resources fairly between
 * workspaces.
 *
 * @param name the workspace, or the account that asks; null if the work competes with no other workspace.
 */
export function workFor<Result>(name: string | null, work: () => Result): Result {
  return workspaces.run(name, work);
}

/** The name that the current work runs for; null if there is none. */
export function workingFor(): string | null {
  return workspaces.getStore() ?? null;
}
