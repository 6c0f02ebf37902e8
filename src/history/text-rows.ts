import type { Sender } from "../spam/post-trace.ts";
import { NO_VALUES, type TextSketch } from "../spam/text-sketch.ts";

/** A target as a text of which only exact copies are recognised. */
export function asText(targetKey: number): TextSketch {
  return { keys: [targetKey], values: NO_VALUES };
}

/**
 * The sender that marks a target as genuine, because a genuine post led to it. It is then the only sender of the target, which is no sign
 * of a campaign.
 */
export const NOBODY: Sender = { email: null, network: null };

export function isGenuineTarget(senders: readonly Sender[]): boolean {
  return senders.some(({ email, network }) => email === null && network === null);
}

/** The keys of a sketch as they are stored: combined with the workspace, so that a lookup finds no other workspace's keys. */
export function scopedKeys(workspaceId: string, keys: readonly number[]): number[] {
  if (workspaceId !== latest.workspaceId) latest = { workspaceId, scope: scopeOf(workspaceId) };
  const { scope } = latest;
  return keys.map((key) => key + scope);
}

/** The last workspace and its scope, because most posts that come together are for one workspace. */
let latest = { workspaceId: "", scope: 0 };

function scopeOf(workspaceId: string): number {
  let scope = 0;
  for (let at = 0; at < workspaceId.length; at += 1)
    scope = (Math.imul(scope, 31) + workspaceId.charCodeAt(at)) >>> 0;
  return scope * 2 ** 20;
}

export function sendersOf(json: string): Sender[] {
  return (JSON.parse(json) as [string | null, string | null][]).map(([email, network]) => ({
    email,
    network,
  }));
}

export function sendersJson(senders: readonly Sender[]): string {
  return JSON.stringify(senders.map(({ email, network }) => [email, network]));
}
