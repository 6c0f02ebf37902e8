import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { isList } from "../../src/api/list-pages.ts";
import { type ApiRoute, ROUTES } from "../../src/api/routes.ts";
import { unwrapped } from "../../src/operations/marks.ts";
import { type ApiRequest, type Ask, askWith, makeToken } from "../support/api-client.ts";
import { type ApiWorld, contentOfWorld, launchApiWorld } from "../support/api-world.ts";
import type { Answer } from "../support/http-client.ts";

let world: ApiWorld;
let ask: Ask;
beforeAll(async () => {
  world = await launchApiWorld({ rateLimit: { token: { max: null } } });
  ask = askWith(
    world.server,
    await makeToken(world.server, undefined, { account: world.names["account"] ?? "" }),
  );
});
afterAll(() => world.server.stop());

/** Of JSON, which a file is not: `api/import` has the bad input of files. */
const hasBody = ({ method, takesFile }: ApiRoute): boolean =>
  method !== "GET" && method !== "DELETE" && !takesFile;

/** A route that takes a file looks at it last. */
const fileFor = ({ takesFile }: ApiRoute): Pick<ApiRequest, "body"> => (takesFile ? { body: "x" } : {});

/** The members of an input that do not stand in the path. */
function membersOf({ operation, path }: ApiRoute): [string, z.ZodType][] {
  const shape = operation.input.shape as Readonly<Record<string, z.ZodType>>;
  return Object.entries(shape).filter(([name]) => !path.includes(`:${name}`));
}

/** What a client can act on: what kind of error, a sentence, a stable code, and the name of what is wrong. */
function expectRefusal(answer: Answer, [status, code]: readonly [number, string], named?: string): void {
  expect([answer.status, answer.json["code"]]).toEqual([status, code]);
  expect(answer.json["error"]).toEqual(expect.stringMatching(/^[A-Z]/));
  // A message as the command line shows it, or a sentence of the error table.
  expect(answer.json["message"]).toEqual(expect.stringMatching(/^(?:[a-z][^]*[^.]|[A-Z][^]*\.)$/));
  expect(JSON.stringify(answer.json)).not.toMatch(/\/src\/|node_modules|SELECT |\n {4}at /);
  if (named !== undefined)
    expect(Object.keys(answer.json["details"] as object).map((name) => name.split(".")[0])).toContain(named);
}

/** JSON that a member does not take; undefined if it takes everything. */
function wrongValue(type: z.ZodType): unknown {
  const candidates = [{ surely: { unknown: 1 } }, 7.5, true, ["x", {}], "surely not"];
  return candidates.find((value) => !type.safeParse(value).success);
}

/** Whether some text of a query is not of the type. */
const isNoText = (type: z.ZodType): boolean =>
  ["surely not", ["surely not"]].every((text) => !unwrapped(type).safeParse(text).success);

const named = (routes: readonly ApiRoute[]) => routes.map((route) => ({ route, name: route.operation.name }));

/** The tables that work has changed. */
async function changedBy(work: () => Promise<void>): Promise<string[]> {
  const before = await contentOfWorld(world);
  await work();
  const after = await contentOfWorld(world);
  return Object.keys(after).filter((table) => !isDeepStrictEqual(before[table], after[table]));
}

describe.each(named(ROUTES))("$name", ({ route }) => {
  const { method, path } = route;

  test("refuses members and parameters that it does not know, and names them", async () => {
    const changed = await changedBy(async () => {
      const at = world.pathOf(path);
      expectRefusal(
        await ask(method, at, { query: "surely=1", ...fileFor(route) }),
        [400, "invalid_request"],
        "surely",
      );
      if (!hasBody(route)) return;
      expectRefusal(await ask(method, at, { body: { surely: 1 } }), [400, "invalid_request"], "surely");
    });
    expect(changed).toEqual([]);
  });

  test("refuses each member of a wrong type, and names it", async () => {
    const changed = await changedBy(async () => {
      for (const [name, type] of membersOf(route)) {
        const request = wrongRequest(route, name, type);
        if (request === null) continue;
        const answer = await ask(method, world.pathOf(path), request);
        expectRefusal(answer, [400, "invalid_request"], name);
      }
    });
    expect(changed).toEqual([]);
  });
});

/** Null if there is no wrong value: each text of a query is a text. */
function wrongRequest(route: ApiRoute, name: string, type: z.ZodType): ApiRequest | null {
  if (hasBody(route)) {
    const value = wrongValue(type);
    return value === undefined ? null : { body: { [name]: value } };
  }
  const isPaging = isList(route.operation) && ["limit", "cursor"].includes(name);
  return isPaging || !isNoText(type) ? null : { query: `${name}=surely%20not`, ...fileFor(route) };
}

test.each(named(ROUTES.filter(hasBody)))(
  "$name refuses a body of 1 MiB, and what is no JSON object",
  async ({ route: { method, path } }) => {
    const changed = await changedBy(async () => {
      const send = (body: string | Buffer) => ask(method, world.pathOf(path), { body });
      expectRefusal(await send("x".repeat(1_048_576)), [413, "payload_too_large"]);
      for (const body of ["[]", "null", "{", '"x"', Buffer.from([0x7b, 0xff, 0x7d])])
        expectRefusal(await send(body), [400, "invalid_json"]);
    });
    expect(changed).toEqual([]);
  },
);

test("submission.export refuses a cursor that is no submission's id before its first part", async () => {
  for (const cursor of ["x", "%00", CURSOR_OF_ANOTHER]) {
    const { status, json } = await ask("GET", "/submissions/export", { query: `cursor=${cursor}` });
    expect([status, json]).toEqual([400, expect.objectContaining({ code: "invalid_request" })]);
  }
});

test.each(named(ROUTES.filter(({ operation }) => isList(operation))))(
  "$name refuses a cursor of another list, and a wrong limit",
  async ({ route: { method, path } }) => {
    const changed = await changedBy(async () => {
      const at = world.pathOf(path);
      for (const cursor of [CURSOR_OF_ANOTHER, "x", "%00", "a".repeat(5000)])
        expectRefusal(
          await ask(method, at, { query: `cursor=${cursor}` }),
          [400, "invalid_request"],
          "cursor",
        );
      for (const limit of ["0", "101", "1e1", "-1", "x", "1&limit=2"])
        expectRefusal(await ask(method, at, { query: `limit=${limit}` }), [400, "invalid_request"], "limit");
    });
    expect(changed).toEqual([]);
  },
);

/** Of a list that nobody asked for here. */
const CURSOR_OF_ANOTHER = Buffer.from("AAAAAAAAAAAAAAAA sub_01h455vb4pex5vsknk084sn02q").toString(
  "base64url",
);

test("an export with a cursor that is none is refused before it begins", async () => {
  const changed = await changedBy(async () => {
    for (const cursor of ["x", "%00", "a".repeat(5000)])
      expectRefusal(
        await ask("GET", "/submissions/export", { query: `cursor=${cursor}` }),
        [400, "invalid_request"],
        "cursor",
      );
  });
  expect(changed).toEqual([]);
});
