import { checkTimeZone } from "../../workspaces/workspace.ts";

const OWN_TIME = /^When \(([\w+\-/]+)\)$/;

/** The time zone in the heading of times of our own tables for people; null for any other heading. */
export function zoneInHeading(heading: string): string | null {
  const [, zone = ""] = OWN_TIME.exec(heading.trim()) ?? [];
  try {
    return zone === "" ? null : (checkTimeZone(zone) ?? "UTC");
  } catch {
    return null;
  }
}
