import { z } from "zod";

/**
 * A JSON object with any members, exactly as it came. Zod's records silently drop a member with the name `__proto__`, so that code which
 * checks the names would never see it.
 */
export const jsonObject = z
  .unknown()
  .refine(isObject, "expected an object")
  .meta({ type: "object", additionalProperties: {} }) as unknown as z.ZodType<Record<string, unknown>>;

/**
 * A JSON object whose members have any names and values of one type. Zod's records silently drop a member with the name `__proto__`; this
 * refuses it.
 *
 * @param json the type of the values as JSON Schema says it
 */
export function recordOf<Value extends z.ZodType>(value: Value, json: { readonly type: string }) {
  return z
    .unknown()
    .refine((given) => !isObject(given) || !Object.hasOwn(given as object, "__proto__"), {
      message: "the name __proto__ cannot be used",
    })
    .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: json })
    .pipe(z.record(z.string(), value));
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
