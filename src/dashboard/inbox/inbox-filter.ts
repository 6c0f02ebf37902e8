import type { Steps } from "../../database/steps.ts";
import { getViewableEndpoint, viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import { type EndpointInWorkspace, reachEndpointIds } from "../../endpoints/viewable-endpoints.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isId } from "../../foundation/id.ts";
import { readTime, TIME_FORMS } from "../../foundation/time-text.ts";
import type { Viewer } from "../../sessions/session.ts";
import { readAssignee } from "../../submissions/find/choose-submissions.ts";
import { searchProblem } from "../../submissions/find/match-text.ts";
import {
  EVERY_SUBMISSION,
  type StoredSpamClass,
  type SubmissionFilter,
} from "../../submissions/stored/submission-store.ts";
import { WORK_STATES, type WorkState } from "../../submissions/stored/submission-work.ts";
import { sentence } from "../kit/sentence.ts";

/**
 * A filter as the address of the inbox contains it, and the addresses of pages that are reached from there. An empty member matches
 * everything.
 */
export interface InboxFilter {
  /** An id, as is the next member. */
  readonly workspace: string;
  readonly endpoint: string;
  readonly spamClass: StoredSpamClass | "";
  /**
   * This and the next are times as the options of `submission list` accept them: the first time that matches, and the first that does not.
   */
  readonly since: string;
  readonly until: string;
  readonly unread: boolean;
  readonly state: WorkState | "";
  /** An address or id, `me`, or `none`. */
  readonly assignee: string;
  /** Whether to show the bin instead of the inbox. */
  readonly deleted: boolean;
  /** Words that may be in any fields. */
  readonly q: string;
}

export const NO_FILTER: InboxFilter = {
  workspace: "",
  endpoint: "",
  spamClass: "",
  since: "",
  until: "",
  unread: false,
  state: "",
  assignee: "",
  deleted: false,
  q: "",
};

const CLASSES: readonly string[] = ["low", "medium", "high"] satisfies StoredSpamClass[];

/** @throws invalid_request naming a value that the page does not offer */
export function readInboxFilter(query: URLSearchParams): InboxFilter {
  const value = (name: string): string => (query.get(name) ?? "").trim();
  const spamClass = value("class");
  if (spamClass !== "" && !CLASSES.includes(spamClass)) {
    throw new FormsvcError(
      "invalid_request",
      "The spam class in the address is none of low, medium and high.",
    );
  }
  const state = WORK_STATES.find((known) => known === value("state")) ?? "";
  if (state !== value("state"))
    throw new FormsvcError("invalid_request", "The state in the address is neither open nor done.");
  const q = value("q");
  const problem = searchRefusal(query);
  if (problem !== null) throw new FormsvcError("invalid_request", problem);
  return {
    workspace: value("workspace"),
    endpoint: value("endpoint"),
    spamClass: spamClass as StoredSpamClass | "",
    since: checkTime(value("since")),
    until: checkTime(value("until")),
    unread: value("unread") !== "",
    state,
    assignee: value("assignee"),
    deleted: value("deleted") !== "",
    q,
  };
}

/** Why the words in the address cannot be searched; null if they can, or if there are none. */
export function searchRefusal(query: URLSearchParams): string | null {
  const q = (query.get("q") ?? "").trim();
  const problem = q === "" ? null : searchProblem(q);
  return problem === null ? null : sentence(problem);
}

function checkTime(text: string): string {
  if (text === "" || readTime(text, 0) !== null) return text;
  throw new FormsvcError("invalid_request", `There is no such time as in the address; write ${TIME_FORMS}.`);
}

/** The input of an export for this filter. @throws invalid_request for the bin, which cannot be exported */
export function exportInput(filter: InboxFilter) {
  const { workspace, endpoint, spamClass, since, until, unread, state, assignee, q } = filter;
  if (filter.deleted) throw new FormsvcError("invalid_request", "What is in the bin is not exported.");
  return {
    state: state || null,
    assignee: assignee || null,
    workspace: workspace || null,
    endpoint: endpoint || null,
    class: spamClass || null,
    since: since || null,
    until: until || null,
    search: q || null,
    unread,
  };
}

/** The address of the inbox, or of a page below it, with this filter. */
export function addressOf(
  filter: InboxFilter,
  path = "",
  more: Readonly<Record<string, string>> = {},
): string {
  const members = { ...filterMembers(filter), ...more };
  const query = new URLSearchParams(Object.entries(members).filter(([, value]) => value !== "")).toString();
  return `/dashboard${path}${query === "" ? "" : `?${query}`}`;
}

/** The parameters of an address for this filter, without empty ones. */
export function filterMembers(filter: InboxFilter): Readonly<Record<string, string>> {
  const { workspace, endpoint, spamClass, since, until, unread, state, assignee, deleted, q } = filter;
  const [isUnread, isDeleted] = [unread, deleted].map((is) => (is ? "1" : ""));
  return {
    workspace,
    endpoint,
    class: spamClass,
    since,
    until,
    unread: isUnread ?? "",
    state,
    assignee,
    deleted: isDeleted ?? "",
    q,
  };
}

export function isEverything(filter: InboxFilter): boolean {
  return addressOf(filter) === addressOf(NO_FILTER);
}

/** Whether a form belongs to the filter's workspace, and is the filter's form if it names one. */
export function hasForm(
  { workspace, endpoint }: InboxFilter,
  { id, workspaceId }: Pick<EndpointInWorkspace, "id" | "workspaceId">,
): boolean {
  return (workspace === "" || workspace === workspaceId) && (endpoint === "" || endpoint === id);
}

/**
 * The submissions that match the filter and that the viewer may see. There are none if the form belongs to another workspace than the named
 * one.
 *
 * @throws not_found if the viewer does not see the workspace or the endpoint
 */
export function* toSubmissionFilter(
  filter: InboxFilter,
  viewer: Viewer,
  now: number,
): Steps<SubmissionFilter> {
  const { spamClass, since, until, unread, state, assignee, deleted, q } = filter;
  return {
    endpointIds: yield* chosenEndpoints(filter, viewer),
    spamClass: spamClass === "" ? null : spamClass,
    since: readTime(since, now),
    until: readTime(until, now),
    unreadBy: unread ? viewer.accountId : null,
    text: q === "" ? null : q,
    state: state === "" ? null : state,
    assignee: assignee === "" ? null : yield* readAssignee({ viewing: viewer }, assignee),
    isDeleted: deleted,
  };
}

function* chosenEndpoints(filter: InboxFilter, viewer: Viewer): Steps<readonly string[] | null> {
  const { workspace, endpoint } = filter;
  if (endpoint !== "") {
    const found = yield* getViewableEndpoint(viewer, endpoint);
    return hasForm(filter, found) ? [found.id] : [];
  }
  if (workspace === "") return yield* viewableEndpointIds(viewer);
  if (!isId("ws", workspace)) throw new FormsvcError("not_found", "There is no such workspace.");
  return yield* reachEndpointIds(
    { viewing: viewer, access: "submissions:read" },
    { endpoint: null, workspace },
  );
}

/** Every submission that the viewer may see. */
export function* everyViewable(viewer: Viewer): Steps<SubmissionFilter> {
  return { ...EVERY_SUBMISSION, endpointIds: yield* viewableEndpointIds(viewer) };
}
