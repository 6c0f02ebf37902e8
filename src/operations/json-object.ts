import { z } from "zod";

/**
 * A JSON object of any members, as it came. Zod's records leave a member named `__proto__` out without a word, so that whoever checks
 * names would never see it.
 */
export const jsonObject = z
  .unknown()
  .refine(isObject, "expected an object")
  .meta({ type: "object", additionalProperties: {} }) as unknown as z.ZodType<Record<string, unknown>>;

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
