import type { z } from "zod";
import { type ErrorCode, FormsvcError } from "../foundation/errors.ts";
import { problemsOf } from "../foundation/problems.ts";

/** The input and the answers of a route. The route parses its query with it, and `/openapi.json` shows it. */
export interface RouteDescription {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** The keys that the route accepts as `Authorization: Bearer`. */
  readonly key: "either" | "secret" | "none";
  readonly path?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Request headers besides `Authorization`, in their usual spelling. */
  readonly headers?: z.ZodObject;
  /** The types of the body by media type. */
  readonly body?: Readonly<Record<string, z.ZodType>>;
  /** Successful answers by status. Errors come from the error table. */
  readonly answers: Readonly<Record<number, OperationAnswer>>;
  readonly errors: readonly ErrorCode[];
  /** Whether a visitor of a page may have sent the request. Its errors then have a `visitor_message`. */
  readonly hasVisitors?: true;
}

export interface OperationAnswer {
  readonly description: string;
  /** The types of the body by media type; absent if the answer has no body. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  readonly headers?: z.ZodObject;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Describes the route. Routes without a description are left out of `/openapi.json`. */
    operation?: RouteDescription;
  }
}

/** Errors that any request may get. */
export const COMMON_ERRORS: readonly ErrorCode[] = ["internal", "unavailable"];

/** The largest number of wrong parameters that one answer names, each by at most its first 100 characters. */
const MAX_NAMED = 10;
const MAX_NAME_LENGTH = 100;

/** Parses a query. @throws invalid_request naming the first parameters that are malformed or unknown */
export function readQuery<Schema extends z.ZodObject>(schema: Schema, query: unknown): z.output<Schema> {
  const read = schema.safeParse(query);
  if (read.success) return read.data;
  // A map, not an object, because a parameter may have the name of a member that every object has.
  const details = new Map<string, string>();
  for (const { path, message, isUnknown } of problemsOf(read.error)) {
    const name = (path[0] ?? "").slice(0, MAX_NAME_LENGTH);
    if (!details.has(name) && details.size < MAX_NAMED)
      details.set(name, isUnknown ? "unknown parameter" : message);
  }
  const named = [...details.keys()].join(", ");
  throw new FormsvcError("invalid_request", `These query parameters are wrong: ${named}.`, {
    details: Object.fromEntries(details),
  });
}
