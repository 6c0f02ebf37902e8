import type { Steps } from "../../database/steps.ts";
import { shortenAddress } from "../../foundation/ip-address.ts";
import { isWithin, type Quota, quotaKey } from "../../outbox/queue/quotas.ts";
import { isOfOperator } from "../../workspaces/workspace-store.ts";
import { mailboxOf } from "./automatic-address.ts";
import { DAY_MS, HOUR_MS } from "../../foundation/time-units.ts";

const MAX_PER_MAILBOX_A_DAY = 1;
const MAX_PER_NETWORK_AN_HOUR = 3;
const MAX_PER_ENDPOINT_AN_HOUR = 20;

/** The limits that an operator can configure. */
export interface ReplyLimits {
  readonly perWorkspacePerHour: number;
  /** The replies of all workspaces together; null if workspaces are not counted together. */
  readonly perHour: number | null;
}

/** The part of the configuration that the limits come from. */
interface ReplyConfig {
  readonly mail: {
    readonly limits: { readonly repliesPerWorkspacePerHour: number; readonly repliesPerHour: number };
  };
  readonly dashboard: { readonly signUp: "closed" | "open" };
}

/**
 * Reads the limits. If nobody can sign up, an operator made every workspace, so no stranger has several of them and they need not be
 * counted together.
 */
export function replyLimitsOf({ mail: { limits }, dashboard }: ReplyConfig): ReplyLimits {
  return {
    perWorkspacePerHour: limits.repliesPerWorkspacePerHour,
    perHour: dashboard.signUp === "open" ? limits.repliesPerHour : null,
  };
}

/**
 * The limits that hold for a workspace. Workspaces of an operator are not counted with the others, so that strangers never use up their
 * replies.
 */
export function* limitsOfWorkspace(workspaceId: string, limits: ReplyLimits): Steps<ReplyLimits> {
  if (limits.perHour === null || !(yield* isOfOperator(workspaceId))) return limits;
  return { ...limits, perHour: null };
}

/** The quotas of one post. @param client the IP address of the sender. @param to the address that the reply goes to. */
export function postQuotas(recipientId: string, client: string, to: string): Quota[] {
  return [
    { key: quotaKey("mailbox", mailboxOf(to)), most: MAX_PER_MAILBOX_A_DAY, ms: DAY_MS },
    endpointQuota(recipientId),
    { key: quotaKey("network", shortenAddress(client)), most: MAX_PER_NETWORK_AN_HOUR, ms: HOUR_MS },
  ];
}

/** The quotas that endpoints share. @param limits the limits that hold for the workspace. */
export function sharedQuotas(workspaceId: string, limits: ReplyLimits): Quota[] {
  const { perWorkspacePerHour, perHour } = limits;
  const workspace = { key: quotaKey("workspace", workspaceId), most: perWorkspacePerHour, ms: HOUR_MS };
  return perHour === null ? [workspace] : [workspace, serviceQuota(perHour)];
}

/** The hourly limit that keeps the next reply back. */
export type FullLimit = "endpoint" | "workspace" | "service";

/**
 * The first limit of an endpoint's automatic reply that is reached; null if none is.
 *
 * @param limits the limits that hold for its workspace.
 */
export function* findFullLimit(
  { recipientId, workspaceId }: { readonly recipientId: string; readonly workspaceId: string },
  limits: ReplyLimits,
  now: number,
): Steps<FullLimit | null> {
  if (!(yield* isWithin([endpointQuota(recipientId)], now))) return "endpoint";
  const [workspace, ...service] = sharedQuotas(workspaceId, limits);
  if (workspace !== undefined && !(yield* isWithin([workspace], now))) return "workspace";
  return (yield* isWithin(service, now)) ? null : "service";
}

/** Whether the limit of all workspaces together is reached. @param most the limit, more than 0. */
export function* isServiceFull(most: number, now: number): Steps<boolean> {
  return !(yield* isWithin([serviceQuota(most)], now));
}

/** A limit in words, like `20 replies an hour for this endpoint`. */
export function describeLimit(limit: FullLimit, { perWorkspacePerHour, perHour }: ReplyLimits): string {
  if (limit === "endpoint") return `${MAX_PER_ENDPOINT_AN_HOUR} replies an hour for this endpoint`;
  if (limit === "workspace") return `${perWorkspacePerHour} replies an hour for its workspace`;
  return `${perHour ?? 0} replies an hour for all workspaces together`;
}

function endpointQuota(recipientId: string): Quota {
  return { key: quotaKey("reply", recipientId), most: MAX_PER_ENDPOINT_AN_HOUR, ms: HOUR_MS };
}

function serviceQuota(most: number): Quota {
  return { key: quotaKey("service", ""), most, ms: HOUR_MS };
}
