import { html, type Html } from "../../foundation/html.ts";
import type { Viewer } from "../../sessions/session.ts";
import { createDayCounter } from "../../submissions/find/count-by-day.ts";
import { listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { activityStrip, findingsStrip, readFullest, SHOWN_DAYS } from "./activity-strip.ts";
import { page, redirect } from "../answer.ts";
import { readFindings } from "../system/findings.ts";
import { listFormChoices } from "../forms/form-choice.ts";
import {
  addressOf,
  everyViewable,
  hasForm,
  isEverything,
  readInboxFilter,
  searchRefusal,
  toSubmissionFilter,
} from "./inbox-filter.ts";
import { mayAnywhere, mayWithAny } from "../../workspaces/standing.ts";
import { inboxView, refusedSearch } from "./inbox-view.ts";
import type { DashboardParts } from "../parts.ts";
import { readInbox } from "./read-inbox.ts";
import type { Routes } from "../routes.ts";

/** The first page: submissions, newest first. */
export function inboxPages(routes: Routes, parts: DashboardParts): void {
  const countDays = createDayCounter(parts.db, parts.background);

  /** The top of the page: findings for a person, the last days, and the month. */
  const readTop = async (viewer: Viewer, now: number): Promise<Html> => {
    const { every, usage, isOneOfSeveral } = await parts.db.read(function* () {
      const workspaces = yield* listViewableWorkspaces(viewer, "workspace:usage");
      return {
        every: yield* everyViewable(viewer),
        usage: yield* readFullest(workspaces, parts.config.plans, now),
        isOneOfSeveral: workspaces.length > 1,
      };
    });
    const findings = await readFindings(parts, viewer);
    const days = await countDays(every.endpointIds, SHOWN_DAYS, now);
    return html`${findingsStrip(findings)}${activityStrip({ days, usage, isOneOfSeveral })}`;
  };

  routes.read("/", async (visit) => {
    const { viewer, query, now } = visit;
    const problem = searchRefusal(query);
    if (problem !== null) {
      const others = new URLSearchParams(query);
      others.delete("q");
      const typed = { ...readInboxFilter(others), q: query.get("q") ?? "" };
      const choices = await parts.db.read(() => listFormChoices(viewer));
      return page("Inbox", refusedSearch({ shown: typed, choices }, problem), 400);
    }
    const shown = readInboxFilter(query);
    const { binDays } = parts.config.submissions;
    const position = { before: query.get("before") ?? "", after: query.get("after") ?? "" };
    const { filter, choices, may } = await parts.db.read(function* () {
      const choices = yield* listFormChoices(viewer);
      const forms = choices.filter((each) => hasForm(shown, each));
      return {
        filter: yield* toSubmissionFilter(shown, viewer, now),
        choices,
        may: {
          change: yield* mayWithAny(viewer, "submissions:write", forms),
          export: yield* mayWithAny(viewer, "submissions:export", forms),
          purge: yield* mayWithAny(viewer, "submissions:purge", forms),
          make: yield* mayAnywhere(viewer, "endpoints:create"),
          publish: yield* mayWithAny(viewer, "endpoints:write", forms),
        },
      };
    });
    const found = await readInbox(parts, visit, filter, position);
    if (found === null) return redirect(addressOf(shown));
    const isFirst = position.before === "" && isEverything(shown) && choices.length > 0;
    const top = isFirst ? await readTop(viewer, now) : null;
    return page(
      "Inbox",
      inboxView({ shown, position, found, choices, may, top, accountId: viewer.accountId, binDays, now }),
    );
  });
}
