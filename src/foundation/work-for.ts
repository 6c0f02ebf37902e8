import { AsyncLocalStorage } from "node:async_hooks";

const workspaces = new AsyncLocalStorage<string | null>();

/**
 * Does work for a workspace, so that what all workspaces share can be shared out fairly far below, in a package's callbacks too.
 *
 * @param name the workspace, or the account that looks at it; null if there is no other one to be fair to.
 */
export function workFor<Result>(name: string | null, work: () => Result): Result {
  return workspaces.run(name, work);
}

/** Whom the work under way is for; null if nobody has to be told apart. */
export function workingFor(): string | null {
  return workspaces.getStore() ?? null;
}
