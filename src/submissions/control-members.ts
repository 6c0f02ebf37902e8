import type { SchemaDefinition } from "../schemas/definition.ts";
import type { JsonObject } from "./parse-body.ts";

/** Milliseconds from when the form was shown to when it was sent, as the browser client measures it. */
export const ELAPSED_MEMBER = "_elapsed_ms";
/** A member of this kind steers how a post is handled; it is stored only when the schema declares it. */
const CONTROL_PREFIX = "_";
/** Filled honeypots that the judge is shown; one is enough to block. */
const MAX_FILLED_HONEYPOTS = 20;

export interface ControlMembers {
  /** The honeypots that hold anything but an empty string or null. */
  readonly filledHoneypots: readonly { readonly name: string; readonly value: unknown }[];
  readonly elapsedMs: number | null;
  /** The body without control members and honeypots: what the schema checks. */
  readonly fields: JsonObject;
}

/** Takes the control members out of a raw body, before any field is stripped. */
export function splitControlMembers(
  body: JsonObject,
  honeypots: readonly string[],
  definition: SchemaDefinition,
): ControlMembers {
  const filledHoneypots: { name: string; value: unknown }[] = [];
  const fields: JsonObject = {};
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (honeypots.includes(name)) {
      const filled = value !== "" && value !== null;
      if (filled && filledHoneypots.length < MAX_FILLED_HONEYPOTS) filledHoneypots.push({ name, value });
    } else if (!name.startsWith(CONTROL_PREFIX) || Object.hasOwn(definition, name)) {
      fields[name] = value;
    }
  }
  return { filledHoneypots, elapsedMs: readElapsed(body), fields };
}

/** A number, or the text of one as a plain form sends it. */
function readElapsed(body: JsonObject): number | null {
  const value = Object.hasOwn(body, ELAPSED_MEMBER) ? body[ELAPSED_MEMBER] : null;
  const elapsedMs = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof elapsedMs === "number" && Number.isFinite(elapsedMs) && elapsedMs >= 0 ? elapsedMs : null;
}
