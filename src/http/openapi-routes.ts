import type { FastifyInstance, RouteOptions } from "fastify";
import { z } from "zod";
import { describeError } from "../foundation/errors.ts";
import { openapiOf } from "./openapi-document.ts";
import type { RouteDescription, OperationAnswer } from "./operation.ts";

type Json = Record<string, unknown>;

/** A route and its description. */
interface DescribedRoute {
  readonly method: string;
  readonly url: string;
  readonly operation: RouteDescription;
}

/**
 * `GET /openapi.json`: describes the HTTP interface, from the descriptions of the routes. Call this before the routes are added.
 *
 * @param baseUrl the address that clients use; null if only the socket's address is known
 */
export function openapiRoutes(server: FastifyInstance, baseUrl: string | null): void {
  const routes: DescribedRoute[] = [];
  let rendered: string | null = null;
  server.addHook("onRoute", (route: RouteOptions) => {
    const operation = route.config?.operation;
    if (operation === undefined) return;
    for (const method of [route.method].flat()) {
      if (method !== "HEAD") routes.push({ method: method.toLowerCase(), url: route.url, operation });
    }
  });
  server.get("/openapi.json", (_request, reply) => {
    rendered ??= JSON.stringify(document(routes, baseUrl), null, 2);
    return reply
      .header("content-type", "application/json; charset=utf-8")
      .header("access-control-allow-origin", "*")
      .send(rendered);
  });
}

function document(routes: readonly DescribedRoute[], baseUrl: string | null): Json {
  const schemas: Json = { Error: schemaOf(generalError, {}), PostError: schemaOf(postError, {}) };
  const paths: Record<string, Json> = {};
  for (const { method, url, operation } of routes) {
    const path = url.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [method]: operationJson(operation, schemas) };
  }
  return openapiOf(
    {
      title: "formsvc",
      description: "Takes form submissions, checks and stores them.",
      paths,
      schemas,
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "The endpoint's secret or publishable key." },
        secretKey: { type: "http", scheme: "bearer", description: "The endpoint's secret key." },
      },
    },
    baseUrl,
  );
}

const generalError = z.object({
  error: z.string().describe("The kind of error."),
  message: z.string().describe("What is wrong, for people to read."),
  details: z.record(z.string(), z.unknown()).optional().describe("Further data about this kind of error."),
  limit: z.int().optional().describe("The monthly limit; only with `Submission limit exceeded`."),
  remainingSubmissions: z
    .int()
    .optional()
    .describe("The submissions left in this month; only with `Submission limit exceeded`."),
});

/** The error of a post, which a visitor of a page may have sent. */
const postError = generalError.extend({
  message: z.string().describe("What is wrong, for the developer of the form."),
  visitor_message: z.string().describe("What to show to the visitor of the page."),
  notices: z
    .array(z.string())
    .optional()
    .describe("`held`: the post is kept all the same, so it need not be sent again."),
});

const SECURITY: Readonly<Record<RouteDescription["key"], readonly Json[]>> = {
  either: [{ key: [] }],
  secret: [{ secretKey: [] }],
  none: [],
};

function operationJson(operation: RouteDescription, schemas: Json): Json {
  const parameters = [
    ...parametersOf("path", operation.path, schemas),
    ...parametersOf("query", operation.query, schemas),
    ...parametersOf("header", operation.headers, schemas),
  ];
  const answers = Object.entries(operation.answers).map(([status, answer]) => [
    status,
    answerJson(answer, schemas),
  ]);
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: operation.description,
    security: SECURITY[operation.key],
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body !== undefined && {
      requestBody: { required: true, content: contentJson(operation.body, schemas) },
    }),
    responses: { ...Object.fromEntries(answers), ...errorAnswers(operation) },
  };
}

function parametersOf(where: string, object: z.ZodObject | undefined, schemas: Json): Json[] {
  return Object.entries(object?.shape ?? {}).map(([name, type]) => {
    const { description, ...schema } = schemaOf(type as z.ZodType, schemas);
    const required = where === "path" || !z.safeParse(type, undefined).success;
    // JSON leaves out members that are undefined.
    return { name, in: where, required, description, schema };
  });
}

function answerJson({ description, content, headers }: OperationAnswer, schemas: Json): Json {
  const described = parametersOf("header", headers, schemas).map(
    ({ name, description, required, schema }) => [name, { description, required, schema }],
  );
  return {
    description,
    ...(content !== undefined && { content: contentJson(content, schemas) }),
    ...(described.length > 0 && { headers: Object.fromEntries(described) as Json }),
  };
}

function contentJson(content: Readonly<Record<string, z.ZodType>>, schemas: Json): Json {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, { schema: schemaOf(schema, schemas) }]),
  );
}

/** One answer for each status, which lists each `error` that it may have. */
function errorAnswers({ errors: codes, hasVisitors }: RouteDescription): Json {
  const name = hasVisitors === true ? "PostError" : "Error";
  const byStatus = new Map<number, string[]>();
  for (const { status, error } of codes.map(describeError)) {
    byStatus.set(status, [...(byStatus.get(status) ?? []), error]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      status,
      {
        description: [...new Set(errors)].join("; "),
        content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } },
      },
    ]),
  );
}

/** A type as JSON Schema 2020-12, the language of OpenAPI 3.1. A type with an id is put into the shared schemas. */
function schemaOf(type: z.ZodType, schemas: Json): Json {
  const { $defs, ...schema } = z.toJSONSchema(type, { io: "output" }) as Json;
  delete schema["$schema"];
  for (const [name, shared] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    delete shared["id"];
    schemas[name] ??= atComponents(shared);
  }
  const { id, ...own } = schema;
  if (typeof id !== "string") return atComponents(own);
  schemas[id] ??= atComponents(own);
  return { $ref: `#/components/schemas/${id}` };
}

function atComponents(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}
