import { z } from "zod";
import { EXPORT_TYPES } from "../submissions/export/export-submissions.ts";
import { describeError, type ErrorCode } from "../foundation/errors.ts";
import { openapiOf } from "../http/openapi-document.ts";
import { ruleOf, SCOPES } from "../operations/access.ts";
import type { AnyOperation } from "../operations/operation.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "./cursor.ts";
import { type Json, jsonOf } from "./json-schema.ts";
import { FILE_TYPES } from "./file-bodies.ts";
import { isList } from "./list-pages.ts";
import { loginPaths } from "./login-openapi.ts";
import { type ApiRoute, ROUTES } from "./routes.ts";

/**
 * Describes the API as OpenAPI 3.1, from the operations.
 *
 * @param baseUrl the address that clients use; null if only the socket's address is known
 */
export function openapiDocument(baseUrl: string | null): Json {
  const paths: Record<string, Json> = loginPaths();
  for (const route of ROUTES) {
    const path = `/api/v1${route.path.replace(/:(\w+)/g, "{$1}")}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationJson(route) };
  }
  const token = {
    type: "http",
    scheme: "bearer",
    description: `A token (fat_…). Scopes: ${SCOPES.join(", ")}. X:write includes X:read.`,
  };
  return openapiOf(
    {
      title: "Management API of formsvc",
      description: "Everything that can be done with formsvc, for programs with a token.",
      paths,
      schemas: { Error: jsonOf(error, "output") },
      securitySchemes: { token },
    },
    baseUrl,
  );
}

const error = z.object({
  error: z.string().describe("The kind of error."),
  message: z.string().describe("What is wrong, for people to read."),
  code: z.string().describe("The error code for programs, which never changes."),
  details: z.record(z.string(), z.unknown()).optional().describe("Further data about this kind of error."),
  hint: z
    .looseObject({ kind: z.string() })
    .optional()
    .describe("What can be done about the error, by its kind; the command line shows it as a sentence."),
});

/** `endpoint.ignore-origin` becomes `endpointIgnoreOrigin`. */
function operationId(name: string): string {
  return name.replace(/[.-](\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function operationJson(route: ApiRoute): Json {
  const { operation, method } = route;
  const { shape } = operation.input as { shape: Readonly<Record<string, z.ZodType>> };
  const inPath = new Set([...route.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name));
  const rest = Object.entries(shape).filter(([name]) => !inPath.has(name));
  const hasBody = method !== "GET" && method !== "DELETE";
  const hasMembers = hasBody && !route.takesFile;
  const inQuery = rest.filter(([name]) =>
    hasMembers ? name === "dry_run" : !(isList(operation) && PAGING.has(name)),
  );
  const parameters = [
    ...[...inPath].map((name) => parameter("path", name, shape[name] ?? z.string())),
    ...inQuery.map(([name, type]) => parameter("query", name, type)),
    ...(isList(operation) ? paging : []),
    ...(route.dryRun === null ? [] : [dryRunParameter(route.dryRun)]),
    ...headersOf(route),
  ];
  return {
    operationId: operationId(operation.name),
    "x-operation": operation.name,
    summary: operation.summary,
    tags: [operation.name.split(".", 1)[0]],
    security: [{ token: ruleOf(operation.access).scopes ?? [] }],
    ...(operation.furtherAccess !== undefined && { description: furtherWords(operation.furtherAccess) }),
    ...(parameters.length > 0 && { parameters }),
    ...(hasMembers && rest.length > 0 && { requestBody: bodyOf(rest) }),
    ...(route.takesFile && { requestBody: fileBody }),
    responses: { ...successOf(route), ...errorsOf(route) },
  };
}

const PAGING: ReadonlySet<string> = new Set(["limit", "cursor"]);

const paging: readonly Json[] = [
  {
    name: "limit",
    in: "query",
    required: false,
    description: "How many.",
    schema: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  },
  {
    name: "cursor",
    in: "query",
    required: false,
    description: "The `next_cursor` of the page before.",
    schema: { type: "string" },
  },
];

function dryRunParameter({ summary }: AnyOperation): Json {
  return {
    name: "dry_run",
    in: "query",
    required: false,
    description: `${summary}.`,
    schema: { type: "boolean", default: false },
  };
}

function parameter(where: "path" | "query", name: string, type: z.ZodType): Json {
  const { description, ...schema } = jsonOf(type, "input");
  const required = where === "path" || !z.safeParse(type, undefined).success;
  return { name, in: where, required, ...(description !== undefined && { description }), schema };
}

function headersOf({ method, operation, shownBy }: ApiRoute): Json[] {
  const header = (name: string, description: string): Json => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  });
  if (method === "GET")
    return operation === shownBy
      ? [header("If-None-Match", "The `ETag` of what was read: if nothing was changed since, 304.")]
      : [];
  return [
    ...(method === "POST" && operation.kind !== "read"
      ? [header("Idempotency-Key", "The same key with the same request does nothing twice, for 24 hours.")]
      : []),
    ...(shownBy === null
      ? []
      : [header("If-Match", "The `ETag` of what was read: if it was changed since, 412.")]),
  ];
}

function furtherWords(further: NonNullable<AnyOperation["furtherAccess"]>): string {
  return further
    .map((access) => `${ruleOf(access).about}: needs ${(ruleOf(access).scopes ?? []).join(" and ")}.`)
    .join("\n");
}

const fileBody: Json = {
  required: true,
  description: "The file as it is, of whatever of these types.",
  content: Object.fromEntries(
    FILE_TYPES.map((type) => [type, { schema: { type: "string", format: "binary" } }]),
  ),
};

function bodyOf(rest: readonly (readonly [string, z.ZodType])[]): Json {
  const members = rest.filter(([name]) => name !== "dry_run");
  const required = members.some(([, type]) => !z.safeParse(type, undefined).success);
  const schema = jsonOf(z.strictObject(Object.fromEntries(members)), "input");
  return { required, content: { "application/json": { schema } } };
}

function successOf({ status, operation, shownBy, dryRun }: ApiRoute): Json {
  if (status === 204) return { 204: { description: "It is gone." } };
  if (operation.kind === "stream") return streamOf(operation);
  const output = jsonOf(operation.output, "output");
  const done = isList(operation) ? withNextCursor(output) : output;
  const schema = dryRun === null ? done : { oneOf: [done, jsonOf(dryRun.output, "output")] };
  const headers = {
    ETag: { description: "Changes with what is shown.", schema: { type: "string" } },
  };
  return {
    [status]: {
      description: status === 201 ? "It is made." : "Done.",
      ...(operation === shownBy && { headers }),
      content: { "application/json": { schema } },
    },
    ...(operation === shownBy && { 304: { description: "It is as it was." } }),
  };
}

function streamOf({ output }: Pick<AnyOperation, "output">): Json {
  const members: object = output instanceof z.ZodObject ? output.shape : {};
  if (Object.hasOwn(members, "bytes"))
    return {
      200: {
        description: "The file, of the type that its content has.",
        content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
      },
    };
  const isText = Object.hasOwn(members, "text");
  if (!isText && Object.hasOwn(members, "base64"))
    return {
      200: {
        description: "The archive, as it is made.",
        content: { "application/zip": { schema: { type: "string", format: "binary" } } },
      },
    };
  const lines = {
    "application/x-ndjson": { schema: isText ? { type: "string" } : jsonOf(output, "output") },
  };
  const files = {
    "text/csv": { schema: { type: "string" } },
    "application/json": { schema: {} },
    [EXPORT_TYPES.xlsx]: { schema: { type: "string", format: "binary" } },
  };
  return { 200: { description: "As it is made.", content: isText ? { ...files, ...lines } : lines } };
}

function withNextCursor({ properties, required, ...rest }: Json): Json {
  return {
    ...rest,
    properties: { ...(properties as Json), next_cursor: { type: ["string", "null"] } },
    required: [...new Set([...((required as string[] | undefined) ?? []), "next_cursor"])],
  };
}

/** Inputs that name what may not be there, outside the path too. */
const REFERENCES: ReadonlySet<string> = new Set([
  "account",
  "assignee",
  "delivery",
  "endpoint",
  "held",
  "post",
  "recipient",
  "submission",
  "submissions",
  "webhook",
  "workspace",
]);

/** One answer for each status, which lists each `error` that it may have. */
function errorsOf({ method, path, shownBy, operation }: ApiRoute): Json {
  const isWrite = method !== "GET";
  const names = path.includes(":") || Object.keys(operation.input.shape).some((name) => REFERENCES.has(name));
  const codes: ErrorCode[] = [
    "invalid_request",
    "unauthorized",
    "forbidden",
    ...(names ? (["not_found"] as const) : []),
    ...(isWrite ? (["conflict", "payload_too_large", "unsupported_media_type"] as const) : []),
    ...(isWrite && shownBy !== null ? (["precondition_failed"] as const) : []),
    ...(operation.name === "event.list" ? (["gone"] as const) : []),
    // A file is refused while it is scanned, and when its bytes are deleted.
    ...(operation.name === "file.save" ? (["conflict", "gone"] as const) : []),
    "rate_limited",
    "internal",
    "unavailable",
  ];
  return Object.fromEntries(
    codes.map(describeError).map(({ status, error: kind }) => [
      status,
      {
        description: kind,
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    ]),
  );
}
