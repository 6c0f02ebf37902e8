import type { Sender } from "../spam/post-trace.ts";
import { NO_VALUES, type TextSketch } from "../spam/text-sketch.ts";

/** A target is remembered as a text that is a copy word for word only. */
export function asText(targetKey: number): TextSketch {
  return { keys: [targetKey], values: NO_VALUES };
}

/** The only sender of a target that a genuine post led to: such a target is no sign of a campaign. */
export const NOBODY: Sender = { email: null, network: null };

export function isGenuineTarget(senders: readonly Sender[]): boolean {
  return senders.some(({ email, network }) => email === null && network === null);
}

/** A sketch's keys as they are stored: scoped by workspace, so that lookups find no other workspace's. */
export function scopedKeys(workspaceId: string, keys: readonly number[]): number[] {
  if (workspaceId !== latest.workspaceId) latest = { workspaceId, scope: scopeOf(workspaceId) };
  const { scope } = latest;
  return keys.map((key) => key + scope);
}

/** The last workspace with its scope: posts that come together are mostly of one workspace. */
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
