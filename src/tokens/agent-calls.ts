import { z } from "zod";
import { addToChange, type Change, fittingSubject, listChangesSince } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { findReachableEndpoint } from "../endpoints/endpoint-store.ts";
import { doerOf } from "../operations/actor.ts";
import { changed, type Context, operation } from "../operations/operation.ts";

/** Every tool that exists. Other names are refused, so that no token can fill the record with names of its own. */
export const TOOL_NAMES = [
  "list_endpoints",
  "get_endpoint",
  "search_submissions",
  "get_submission",
  "explain_spam_score",
  "list_held",
  "list_webhooks",
  "list_deliveries",
  "get_usage",
  "get_findings",
  "check_schema",
  "get_snippet",
  "mark_submissions",
  "release_held",
  "replay_delivery",
] as const;

/** The largest number of ids that are noted for one call; it is more than the record has room for. */
export const MAX_NOTED_IDS = 50;
/** Calls of one tool in the same minute are recorded as one change, so that no agent pushes other changes out of the record. */
const TOGETHER_MS = 60_000;

/** Records which token called which tool, and the ids that the call was about; never its arguments, and never its answer. */
export const noteCall = operation({
  name: "mcp.called",
  summary: "Note that an agent called a tool, as the program does that serves it its tools",
  kind: "write",
  access: "mcp",
  input: z.strictObject({
    tool: z.enum(TOOL_NAMES),
    ids: z
      .array(z.string().max(100))
      .max(MAX_NOTED_IDS)
      .readonly()
      .describe("The ids of what the call was about."),
    endpoint: z
      .string()
      .nullable()
      .default(null)
      .describe("Id of the endpoint that all of it belongs to; null if it belongs to none or to several."),
  }),
  output: z.strictObject({}),
  *run(context, { tool, ids, endpoint: id }) {
    const endpoint = id === null ? undefined : yield* findReachableEndpoint(context, id);
    const workspaceId = endpoint?.workspaceId ?? context.viewing.reach?.workspaceId ?? null;
    const isAdded = yield* addToMinute(context, { tool, ids, workspaceId });
    return isAdded
      ? changed({})
      : changed({}, { subject: fittingSubject(ids), workspaceId, detail: wordsFor(tool, 1) });
  },
});

interface Call {
  readonly tool: string;
  readonly ids: readonly string[];
  readonly workspaceId: string | null;
}

/** Adds the call to the change of its minute. False if it is the first call of this tool in the minute. */
function* addToMinute({ actor, now }: Context, { tool, ids, workspaceId }: Call): Steps<boolean> {
  const since = now - (now % TOGETHER_MS);
  const recent = yield* listChangesSince(doerOf(actor), since, TOOL_NAMES.length);
  const isSame = (each: Change): boolean =>
    each.action === "mcp.called" && each.workspaceId === workspaceId && toolOf(each) === tool;
  const before = recent.find(isSame);
  if (before === undefined) return false;
  const subject = fittingSubject(new Set([...before.subject.split(" "), ...ids].filter((id) => id !== "")));
  yield* addToChange(before.id, { subject, detail: wordsFor(tool, countOf(before) + 1) });
  return true;
}

function wordsFor(tool: string, calls: number): string {
  return calls === 1 ? tool : `${tool} (${calls} calls)`;
}

function toolOf({ detail }: Pick<Change, "detail">): string {
  return detail?.split(" ", 1)[0] ?? "";
}

function countOf({ detail }: Pick<Change, "detail">): number {
  return Number(/\((\d+) calls\)$/.exec(detail ?? "")?.[1] ?? 1);
}
