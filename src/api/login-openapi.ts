import { z } from "zod";
import { type Json, jsonOf } from "./json-schema.ts";
import { asking, beginning, begun, FORM, granted, PROBLEMS } from "./login-shapes.ts";

const refused = z.object({
  error: z.string().describe(`The error code, as in RFC 8628: ${Object.keys(PROBLEMS).join(", ")}.`),
  message: z.string().describe("What is wrong, for people to read."),
});

/** The two addresses by which a program gets a token that a person approves. They need no token. */
export function loginPaths(): Record<string, Json> {
  return {
    "/api/v1/login": {
      post: loginJson({
        operationId: "loginBegin",
        summary: "Begin a login: a code that somebody approves in the dashboard",
        input: beginning,
        output: begun,
        refused: "Wrong input.",
      }),
    },
    "/api/v1/login/token": {
      post: loginJson({
        operationId: "loginToken",
        summary: "Ask for the token of a login, until it is approved, denied or too old",
        input: asking,
        output: granted,
        refused: "No token, or not yet.",
      }),
    },
  };
}

interface LoginRoute {
  readonly operationId: string;
  readonly summary: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly refused: string;
}

function loginJson({ operationId, summary, input, output, refused: problem }: LoginRoute): Json {
  const schema = jsonOf(input, "input");
  const answer = (description: string, type: z.ZodType): Json => ({
    description,
    content: { "application/json": { schema: jsonOf(type, "output") } },
  });
  return {
    operationId,
    summary,
    tags: ["login"],
    security: [],
    requestBody: {
      required: !input.safeParse({}).success,
      content: { "application/json": { schema }, [FORM]: { schema } },
    },
    responses: {
      200: answer("Done.", output),
      400: answer(problem, refused),
      403: answer("Plain http from another machine.", refused),
      429: answer("Too many requests.", refused),
    },
  };
}
