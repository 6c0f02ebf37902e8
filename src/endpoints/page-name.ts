import { query } from "../database/database.ts";
import { first, type Steps } from "../database/steps.ts";
import type { Endpoint } from "./endpoint.ts";

/*
 * The name of a form is also an address of its own page. Of several forms with one name the page is that of the form that has had it there
 * for the longest time, so that nobody takes an address away that somebody else has printed.
 */

/** The id of the endpoint whose own page is found under this name; null if there is none. */
export function* findPageNamed(name: string): Steps<string | null> {
  const rows = query.selectFrom("endpoint").select("id").where("name", "=", name);
  const row = yield* first(
    rows.where("page_place", "is not", null).orderBy("page_place").orderBy("id").limit(1),
  );
  return row?.id ?? null;
}

/** The column to write for an endpoint; nothing if its place stays. @param before null for a new endpoint */
export function* placeOf(
  { name, settings: { page } }: Pick<Endpoint, "name" | "settings">,
  before: Endpoint | null,
): Steps<{ readonly page_place?: number | null }> {
  if (!page.isOn) return { page_place: null };
  if (before !== null && before.settings.page.isOn && before.name === name) return {};
  const last = yield* first(
    query
      .selectFrom("endpoint")
      .select(({ fn }) => fn.max("page_place").as("place"))
      .where("name", "=", name)
      .where("page_place", "is not", null),
  );
  return { page_place: (last?.place ?? -1) + 1 };
}
