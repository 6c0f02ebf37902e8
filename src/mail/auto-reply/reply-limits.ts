import type { Steps } from "../../database/steps.ts";
import { shortenAddress } from "../../foundation/ip-address.ts";
import { isWithin, type Quota, quotaKey } from "../../outbox/queue/quotas.ts";
import { isOfOperator } from "../../workspaces/workspace-store.ts";
import { mailboxOf } from "./automatic-address.ts";
import { DAY_MS, HOUR_MS } from "../../foundation/time-units.ts";

const MAX_PER_MAILBOX_A_DAY = 1;
const MAX_PER_NETWORK_AN_HOUR = 3;
const MAX_PER_ENDPOINT_AN_HOUR = 20;

/** What an operator may choose. */
export interface ReplyLimits {
  readonly perWorkspacePerHour: number;
  /** Of all workspaces together; null if they are not counted together. */
  readonly perHour: number | null;
}

/** The part of the configuration that is about it. */
interface ReplyConfig {
  readonly mail: {
    readonly limits: { readonly repliesPerWorkspacePerHour: number; readonly repliesPerHour: number };
  };
  readonly dashboard: { readonly signUp: "closed" | "open" };
}

/** If nobody signs up, an operator made every workspace, and no stranger has several of them. */
export function replyLimitsOf({ mail: { limits }, dashboard }: ReplyConfig): ReplyLimits {
  return {
    perWorkspacePerHour: limits.repliesPerWorkspacePerHour,
    perHour: dashboard.signUp === "open" ? limits.repliesPerHour : null,
  };
}

/** The limits that count for a workspace: strangers never take the replies of an operator's own endpoints. */
export function* limitsOfWorkspace(workspaceId: string, limits: ReplyLimits): Steps<ReplyLimits> {
  if (limits.perHour === null || !(yield* isOfOperator(workspaceId))) return limits;
  return { ...limits, perHour: null };
}

/** @param client the address of whoever posted. @param to the address that the reply goes to. */
export function postQuotas(recipientId: string, client: string, to: string): Quota[] {
  return [
    { key: quotaKey("mailbox", mailboxOf(to)), most: MAX_PER_MAILBOX_A_DAY, ms: DAY_MS },
    endpointQuota(recipientId),
    { key: quotaKey("network", shortenAddress(client)), most: MAX_PER_NETWORK_AN_HOUR, ms: HOUR_MS },
  ];
}

/** What endpoints share. @param limits that count for the workspace. */
export function sharedQuotas(workspaceId: string, limits: ReplyLimits): Quota[] {
  const { perWorkspacePerHour, perHour } = limits;
  const workspace = { key: quotaKey("workspace", workspaceId), most: perWorkspacePerHour, ms: HOUR_MS };
  return perHour === null ? [workspace] : [workspace, serviceQuota(perHour)];
}

/** Whose limit of an hour keeps the next reply back. */
export type FullLimit = "endpoint" | "workspace" | "service";

/**
 * The first limit of an endpoint's automatic reply that is reached; null if none is.
 *
 * @param limits that count for its workspace.
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

/** Whether the workspaces that are counted together get no reply now. @param most that is more than 0. */
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
