import { z } from "zod";

/**
 * A JSON object with any members, exactly as it came. Zod's records silently drop a member with the name `__proto__`, so that code which
 * checks the names would never see it.
 */
export const jsonObject = z
  .unknown()
  .refine(isObject, "expected an object")
  .meta({ type: "object", additionalProperties: {} }) as unknown as z.ZodType<Record<string, unknown>>;

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
