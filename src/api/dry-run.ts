import { wrongParameter } from "./read-input.ts";
import type { ApiRoute } from "./routes.ts";

const NAME = "dry_run";

/** The route that answers a request, and the query without `dry_run`. */
export interface Chosen {
  readonly route: ApiRoute;
  readonly query: URLSearchParams;
}

/**
 * Chooses the operation that changes nothing if the query has `dry_run=true` and that is an operation of its own. A wrong value stays in
 * the query; {@link refuseDryRun} refuses it later, after all checks that come before the input.
 *
 * @param url path and query of the request
 */
export function chooseRun(route: ApiRoute, url: string): Chosen {
  const query = new URLSearchParams(url.split("?", 2)[1] ?? "");
  const { dryRun } = route;
  const [text = "", ...others] = query.getAll(NAME);
  if (dryRun === null || others.length > 0 || !["true", "false"].includes(text)) return { route, query };
  query.delete(NAME);
  return { route: text === "true" ? { ...route, operation: dryRun, status: 200 } : route, query };
}

/** @throws invalid_request for a value that {@link chooseRun} left in the query */
export function refuseDryRun({ route, query }: Chosen): void {
  if (route.dryRun !== null && query.has(NAME)) throw wrongParameter(NAME, "expected true or false, once");
}
