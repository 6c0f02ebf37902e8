import { describe, expect, test } from "vitest";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { listAllEndpoints, showEndpoint } from "../../src/endpoints/endpoint-operations.ts";
import { listEndpointKeys } from "../../src/endpoints/key-operations.ts";
import type { PerformAnywhere } from "../../src/apply/read-current.ts";
import { ENGINES } from "../support/engines.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import {
  applyTo,
  EVERYTHING,
  exported,
  linesOf,
  performerOn,
  planOf,
  PRUNES,
} from "../support/forms-world.ts";

const EMAIL = { type: "string", format: "email" } as const;

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("what was exported makes the same settings on an empty database, and nothing is left to change", async () => {
    const source = performerOn(await temporary());
    const made = await applyTo(source, EVERYTHING);
    expect(made.map(({ workspace, endpoint, webhook }) => [workspace, endpoint, webhook === null])).toEqual([
      ["Client A", "Contact", true],
      ["Client A", "Contact", false],
      ["Client A", "Paused", true],
      ["Client B", "Contact", true],
    ]);
    expect(linesOf(await planOf(source, EVERYTHING, PRUNES))).toEqual([]);
    const first = await exported(source);
    expect(linesOf(await planOf(source, first, PRUNES))).toEqual([]);

    const target = performerOn(await temporary());
    await applyTo(target, withSecrets(first));
    expect(namedAlike(await exported(target))).toEqual(namedAlike(first));
    expect(linesOf(await planOf(target, withSecrets(first), PRUNES))).toEqual([]);
  });
});

test("one that is ended between any two operations comes to the same end when it is run again", async () => {
  const whole = performerOn(temporaryDatabase());
  await applyTo(whole, EVERYTHING);
  const counted = counting(performerOn(temporaryDatabase()));
  await applyTo(counted.perform, EVERYTHING);
  const end = namedAlike(await exported(whole));
  expect(counted.count()).toBeGreaterThan(15);
  for (let last = 0; last < counted.count(); last += 1) {
    const perform = performerOn(temporaryDatabase());
    await expect(applyTo(endingAfter(perform, last), EVERYTHING)).rejects.toThrow("ended");
    await applyTo(perform, EVERYTHING);
    expect(namedAlike(await exported(perform)), `ended after ${last}`).toEqual(end);
    expect(linesOf(await planOf(perform, EVERYTHING, PRUNES))).toEqual([]);
  }
});

test("a change of everything is made by one operation each, in an order in which no post is refused", async () => {
  const perform = performerOn(temporaryDatabase());
  await applyTo(perform, EVERYTHING);
  const changed = structuredClone(EVERYTHING);
  const [contact] = changed.workspaces[0]!.endpoints;
  Object.assign(contact!, {
    schema: { email: { type: "string", required: true, format: "email" }, phone: { type: "string" } },
    unknown_fields: "reject",
    keep_days: null,
    spam: {},
    recipients: [{ address: "office@example.com", digest: "hourly" }, { address: "new@example.com" }],
    webhooks: [{ url: "http://127.0.0.1:9/other", allow_private: true }],
    autoreply: null,
  });
  Object.assign(changed.workspaces[0]!.endpoints[1]!, { state: "active" });
  expect(linesOf(await planOf(perform, changed, PRUNES))).toEqual([
    "change schema Client A/Contact message phone",
    "change endpoint Client A/Contact unknown_fields keep_days",
    "change spam Client A/Contact technical",
    "change recipient Client A/Contact office@example.com digest",
    "create recipient Client A/Contact new@example.com",
    "create webhook Client A/Contact http://127.0.0.1:9/other",
    "change autoreply Client A/Contact state",
    "change endpoint Client A/Paused state",
    "delete webhook Client A/Contact http://127.0.0.1:9/crm",
    "delete webhook Client A/Contact https://192.0.2.7/…lack",
    "delete recipient Client A/Contact paused@example.com",
  ]);
  await applyTo(perform, changed, PRUNES);
  expect(linesOf(await planOf(perform, changed, PRUNES))).toEqual([]);
  // Settings that take more go before a schema that takes less.
  const loosened = structuredClone(changed);
  Object.assign(loosened.workspaces[0]!.endpoints[0]!, {
    unknown_fields: "keep",
    schema: { a: { type: "string" } },
  });
  expect(linesOf(await planOf(perform, loosened)).slice(0, 2)).toEqual([
    "change endpoint Client A/Contact unknown_fields",
    "change schema Client A/Contact email phone a",
  ]);
});

const TABLE = { type: "array", required: true, items: { type: "array" } };

test("a page of a form is opened when it can ask for the new fields, and closed before it cannot", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (page: "on" | "off", schema: object, members: object = {}) => ({
    version: 1,
    workspaces: [{ name: "A", endpoints: [{ name: "F", page, schema, ...members }] }],
  });
  const words = { a: { type: "string" } };
  await applyTo(perform, file("off", { table: TABLE }, { unknown_fields: "reject" }));
  const opened = file("on", words, { unknown_fields: "drop" });
  expect(linesOf(await planOf(perform, opened))).toEqual([
    "change endpoint A/F unknown_fields",
    "change schema A/F table a",
    "change endpoint A/F page",
  ]);
  await applyTo(perform, opened);
  const closed = file("off", { table: TABLE }, { unknown_fields: "reject" });
  expect(linesOf(await planOf(perform, closed))).toEqual([
    "change endpoint A/F page",
    "change schema A/F a table",
    "change endpoint A/F unknown_fields",
  ]);
  await applyTo(perform, closed);
  expect(linesOf(await planOf(perform, closed))).toEqual([]);
});

test("fields that a form's page cannot ask for are refused before the first change, whether the file opens it or not", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (members: object) => ({
    version: 1,
    workspaces: [
      {
        name: "A",
        endpoints: [
          { name: "Other", schema: {} },
          { name: "F", schema: { a: { type: "string" } }, ...members },
        ],
      },
    ],
  });
  const refused = (members: object) =>
    expect(async () => planOf(perform, file({ schema: { table: TABLE }, ...members }))).rejects.toThrow(
      'cannot ask for "table"',
    );
  await refused({ page: "on" });
  await applyTo(perform, file({ page: "on" }));
  await refused({});
});

test("fields that change their places are a change, also inside a group and in the rows of a list", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (names: readonly string[]) => {
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const group = { type: "object", properties };
    const schema = { home: group, guests: { type: "array", items: group }, a: { type: "string" } };
    return { version: 1, workspaces: [{ name: "A", endpoints: [{ name: "F", schema }] }] };
  };
  await applyTo(perform, file(["city", "street"]));
  expect(linesOf(await planOf(perform, file(["street", "city"])))).toEqual(["change schema A/F home guests"]);
  await applyTo(perform, file(["street", "city"]));
  const { endpoint } = await perform(showEndpoint, { endpoint: "F" });
  const { home } = endpoint.schema as { home: { properties: object } };
  expect(Object.keys(home.properties)).toEqual(["street", "city"]);
  expect(linesOf(await planOf(perform, file(["street", "city"])))).toEqual([]);
});

test("an endpoint that was named otherwise keeps its id, its keys and its webhooks", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (name: string, was?: string) => ({
    version: 1,
    workspaces: [{ name: "A", endpoints: [{ name, was, schema: { a: { type: "string" } } }] }],
  });
  await applyTo(perform, file("Contact"));
  const { endpoint } = await perform(showEndpoint, { endpoint: "Contact" });
  const keys = await perform(listEndpointKeys, { endpoint: endpoint.id });
  expect(linesOf(await planOf(perform, file("Hello", "Contact")))).toEqual([
    "change endpoint A/Contact name",
  ]);
  expect(await applyTo(perform, file("Hello", "Contact"))).toEqual([]);
  expect((await perform(showEndpoint, { endpoint: "Hello" })).endpoint.id).toBe(endpoint.id);
  expect(await perform(listEndpointKeys, { endpoint: "Hello" })).toEqual(keys);
  expect(linesOf(await planOf(perform, file("Hello", "Contact")))).toEqual([]);
  await perform(createEndpoint, { name: "Contact", schema: {} });
  await expect(planOf(perform, file("Hello", "Contact"))).rejects.toMatchObject({ code: "usage" });
});

test("an endpoint is deleted with its posts by its id, and never by a name that two endpoints have", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (endpoints: readonly object[]) => ({
    version: 1,
    workspaces: ["A", "B"].map((name) => ({ name, endpoints })),
  });
  await applyTo(perform, file([{ name: "F", schema: {} }]));
  const named = (...withPosts: string[]) => planOf(perform, file([]), { prunes: true, withPosts });
  const refused = {
    code: "ambiguous",
    message: expect.stringMatching(/A\/F \(ep_\w+\), B\/F \(ep_/) as string,
  };
  await expect(named("F")).rejects.toMatchObject(refused);
  const { data } = await perform(listAllEndpoints, { workspace: "B" });
  for (const name of [data[0]!.id, "B/F"]) {
    const { changes, notes } = await named(name);
    expect(notes).toEqual([]);
    const withPosts = changes.filter(({ differences }) => differences.length > 0);
    expect(withPosts.map(({ verb, name: shown }) => `${verb} ${shown}`)).toEqual(["delete B/F"]);
  }
  expect((await named("/F")).notes).toEqual(["there is no endpoint /F to delete"]);
});

test("a recipient who has not agreed is told to be kept only if the others were to be deleted", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (recipients: readonly object[]) => ({
    version: 1,
    workspaces: [{ name: "A", endpoints: [{ name: "F", schema: {}, recipients }] }],
  });
  await applyTo(perform, file([{ address: "office@example.com" }]));
  const unsubscribed: PerformAnywhere = async (operation, input) => {
    const shown = await perform(operation, input);
    return operation.name === "recipient.list"
      ? (JSON.parse(JSON.stringify(shown).replaceAll('"enabled"', '"unsubscribed"')) as typeof shown)
      : shown;
  };
  expect((await planOf(unsubscribed, file([]))).kept).toEqual([]);
  expect((await planOf(unsubscribed, file([]), PRUNES)).kept).toHaveLength(1);
});

test("the order of fields counts", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (schema: object) => ({
    version: 1,
    workspaces: [{ name: "A", endpoints: [{ name: "F", schema }] }],
  });
  const [a, b] = [{ type: "string" }, { type: "number" }];
  await applyTo(perform, file({ a, b }));
  await applyTo(perform, file({ b, a }));
  const { endpoint } = await perform(showEndpoint, { endpoint: "F" });
  expect(Object.keys(endpoint.schema)).toEqual(["b", "a"]);
});

/** An exported file names variables for secrets: here with the secrets in their place. */
function withSecrets(file: unknown): unknown {
  const text = JSON.stringify(file)
    .replaceAll(/\{"env":"WEBHOOK_URL_[^}]*\}/g, '"https://192.0.2.7/T0/B0/secret-of-slack"')
    .replaceAll(/\{"env":"WEBHOOK_HEADER_[^}]*\}/g, '"Bearer of-crm"');
  return JSON.parse(text) as unknown;
}

/** Variables are named after ids, which differ. */
function namedAlike(file: unknown): unknown {
  return JSON.parse(JSON.stringify(file).replaceAll(/_[0-9A-Z]{12}"/g, '_ID"')) as unknown;
}

function counting(perform: PerformAnywhere): {
  readonly perform: PerformAnywhere;
  readonly count: () => number;
} {
  let count = 0;
  return {
    perform(operation, input) {
      if (operation.kind !== "read") count += 1;
      return perform(operation, input);
    },
    count: () => count,
  };
}

/** Does this number of operations that change something, and no more. */
function endingAfter(perform: PerformAnywhere, writes: number): PerformAnywhere {
  let left = writes;
  return (operation, input) => {
    if (operation.kind !== "read" && (left -= 1) < 0) return Promise.reject(new Error("ended"));
    return perform(operation, input);
  };
}

test("a plan foresees that a form's own page would lack its task, for a new form and for one that is there", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (settings: object) => ({
    version: 1,
    workspaces: [
      { name: "A", endpoints: [{ name: "Contact", schema: { a: { type: "string" } }, ...settings }] },
    ],
  });
  const required = { challenge: "hcaptcha", challenge_required: "on" };
  const foreseen = {
    code: "usage",
    message: expect.stringMatching(
      /^A\/Contact: the form's own page cannot show the task of hcaptcha/,
    ) as string,
  };
  await expect(planOf(perform, file({ page: "on", ...required }))).rejects.toMatchObject(foreseen);
  await applyTo(perform, file({ page: "on" }));
  await expect(planOf(perform, file(required))).rejects.toMatchObject(foreseen);
  const key = { challenge_site_key: "10000000-ffff" };
  expect(linesOf(await planOf(perform, file({ ...required, ...key })))).toEqual([
    "change endpoint A/Contact challenge challenge_required challenge_site_key",
  ]);
  expect(linesOf(await planOf(perform, file({ page: "off", ...required })))).toHaveLength(1);
});

test("a logo is checked with the allowed origins that the form will have, in the file or not, before the first change", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (settings: object) => ({
    version: 1,
    workspaces: [
      { name: "A", endpoints: [{ name: "Contact", schema: { a: { type: "string" } }, ...settings }] },
    ],
  });
  const logo = (host: string) => ({ page_logo: `https://${host}/logo.png` });
  const origins = (...hosts: string[]) => ({ allowed_origins: hosts.map((host) => `https://${host}`) });
  const foreseen = {
    code: "usage",
    message: expect.stringMatching(/^A\/Contact: the logo must come from one of/) as string,
  };
  await expect(planOf(perform, file(logo("a.example")))).rejects.toMatchObject(foreseen);
  await applyTo(perform, file(origins("a.example", "b.example")));
  await expect(planOf(perform, file(logo("c.example")))).rejects.toMatchObject(foreseen);
  const other = file({ ...logo("a.example"), ...origins("b.example") });
  expect(() => planOf(perform, other)).toThrow("page_logo: the logo must come from one of");
  await applyTo(perform, file(logo("a.example")));
  expect(linesOf(await planOf(perform, file(logo("a.example"))))).toEqual([]);
  // The origin of a logo that the file does not name cannot go either.
  await expect(planOf(perform, file(origins("b.example")))).rejects.toMatchObject(foreseen);
  await applyTo(perform, file({ ...logo("b.example"), ...origins("b.example") }));
  await applyTo(perform, file({ page_logo: null, ...origins() }));
});

test("an address in other letters is the same recipient, and gets the answers to the automatic reply", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (address: string, others: object[] = []) => ({
    version: 1,
    workspaces: [
      {
        name: "A",
        endpoints: [
          {
            name: "F",
            schema: { email: { type: "string", format: "email" } },
            recipients: [{ address }, ...others],
            autoreply: { text: "Thank you.", reply_to: "OFFICE@example.com" },
          },
        ],
      },
    ],
  });
  await applyTo(perform, file("Office@example.com"));
  expect(linesOf(await planOf(perform, file("office@EXAMPLE.com"), PRUNES))).toEqual([]);
  expect(() => planOf(perform, file("a@example.com", [{ address: "A@example.com" }]))).toThrow(
    /recipients\.1: is the same recipient as number 0/,
  );
});

test.each([
  [{ schema: { name: { type: "string" } }, autoreply: {} }, "A/F: F has no field of format email"],
  [
    { schema: { a: EMAIL, b: EMAIL }, autoreply: {} },
    'A/F: several fields could have the address of the reply: "a", "b"',
  ],
  [
    { schema: { a: EMAIL }, autoreply: { reply_to: "x@example.com" } },
    "A/F: x@example.com, which is to get the answers to the automatic reply, is none of its recipients",
  ],
])("what an automatic reply would lack is said before the first change: %j", async (members, message) => {
  const perform = performerOn(temporaryDatabase());
  const file = { version: 1, workspaces: [{ name: "A", endpoints: [{ name: "F", ...members }] }] };
  await expect(planOf(perform, file)).rejects.toThrow(message);
});
