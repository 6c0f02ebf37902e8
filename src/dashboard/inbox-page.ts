import { listEndpointNames } from "../endpoints/viewable-endpoints.ts";
import { page, redirect } from "./answer.ts";
import { addressOf, isEverything, readInboxFilter, toSubmissionFilter } from "./inbox-filter.ts";
import { inboxView, MAX_CHOICES } from "./inbox-view.ts";
import type { DashboardParts } from "./parts.ts";
import { readInbox } from "./read-inbox.ts";
import type { Routes } from "./routes.ts";

/** The first screen: what came in, newest first. */
export function inboxPages(routes: Routes, parts: DashboardParts): void {
  routes.read("/", async ({ viewer, query, now }) => {
    const shown = readInboxFilter(query);
    const place = { before: query.get("before") ?? "", after: query.get("after") ?? "" };
    const { filter, choices } = await parts.db.read(function* () {
      return {
        filter: yield* toSubmissionFilter(shown, viewer),
        // One more tells that there are too many to choose from.
        choices: yield* listEndpointNames(viewer, MAX_CHOICES + 1),
      };
    });
    const found = await readInbox(parts, viewer, filter, place);
    if (found === null) return redirect(addressOf(shown));
    const isFirst = place.before === "" && isEverything(shown);
    return page("Inbox", inboxView({ viewer, shown, place, found, choices, isFirst, now }));
  });
}
