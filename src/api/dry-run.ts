import { wrongParameter } from "./read-input.ts";
import type { ApiRoute } from "./routes.ts";

const NAME = "dry_run";

/** Whether a route says with `dry_run=true` what would be done. */
export function hasDryRun({ operation, dryRun, method }: ApiRoute): boolean {
  return dryRun !== null || (method !== "GET" && Object.hasOwn(operation.input.shape, NAME));
}

/** What answers a request, and its query without what chose that. */
export interface Chosen {
  readonly route: ApiRoute;
  readonly query: URLSearchParams;
}

/**
 * With `dry_run=true` the operation that changes nothing takes the other one's place, if it is another one. A wrong value stays in the
 * query: it is refused by {@link refuseDryRun}, after all that comes before the input.
 *
 * @param url path and query, as they were asked for
 */
export function chooseRun(route: ApiRoute, url: string): Chosen {
  const query = new URLSearchParams(url.split("?", 2)[1] ?? "");
  const { dryRun } = route;
  const [text = "", ...others] = query.getAll(NAME);
  if (dryRun === null || others.length > 0 || !["true", "false"].includes(text)) return { route, query };
  query.delete(NAME);
  return { route: text === "true" ? { ...route, operation: dryRun, status: 200 } : route, query };
}

/** @throws invalid_request for a value that {@link chooseRun} did not take */
export function refuseDryRun({ route, query }: Chosen): void {
  if (route.dryRun !== null && query.has(NAME)) throw wrongParameter(NAME, "expected true or false, once");
}
