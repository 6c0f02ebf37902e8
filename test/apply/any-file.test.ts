import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  dictionary,
  oneof,
  option,
  record,
} from "fast-check";
import { expect, test } from "vitest";
import { checkFile } from "../../src/apply/check-file.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { applyTo, exported, linesOf, performerOn, planOf, PRUNES } from "../support/forms-world.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const orNull = <Value>(value: Arbitrary<Value>) => option(value, { nil: null });
const few = <Value>(value: Arbitrary<Value>, maxLength = 3) => array(value, { maxLength });
const some = <Model extends object>(
  model: { [Name in keyof Model]: Arbitrary<Model[Name]> },
  requiredKeys: (keyof Model)[] = [],
) => record(model, { requiredKeys });

const text = constantFrom("a", "Büro 1", "  padded  ", "{form}: {email}", "e\u0301", "constructor");
const names = ["email", "name", "constructor", "1", "10", "e\u0301"] as const;
const field = constantFrom(
  { type: "string", format: "email" },
  { type: "string", maxLength: 10, required: true },
  { type: "number", required: false },
  { type: "string", enum: ["b", "a"] },
  { type: "object", properties: { x: { type: "string" }, "1": { type: "number" } } },
  { type: "array", items: { type: "string" } },
);
const condition = record({
  field: constantFrom(...names),
  is: constantFrom("=", ">", "filled"),
  value: constantFrom("1", "1.0", "é"),
});
const recipient = some(
  {
    address: constantFrom("a@example.com", "A@EXAMPLE.com", "b@example.com", "ü@bücher.example"),
    language: orNull(constantFrom("de", "de-AT", "zh-Hant")),
    digest: constantFrom("hourly", "daily"),
    max_spam_score: constantFrom(0, 100),
    subject: orNull(text),
    conditions: few(condition, 1),
    enabled: boolean(),
  },
  ["address"],
);
const webhook = some(
  {
    url: constantFrom("https://192.0.2.1/a", "https://192.0.2.1:443/a", "HTTPS://192.0.2.1/%61?b=c"),
    format: constantFrom("standard", "discord"),
    max_spam_score: constantFrom(0, 100),
    conditions: few(condition, 1),
    headers: dictionary(constantFrom("X-Team", "x-team", "constructor"), constant("a"), {
      maxKeys: 2,
    }),
    enabled: boolean(),
  },
  ["url"],
);
const spam = some({
  maxLinks: constantFrom(0, 3),
  technical: boolean(),
  keywords: few(record({ word: text, effect: constantFrom(5, "block") })),
  deny: record({
    addresses: few(constantFrom("10.0.0.1/8", "2001:DB8::1")),
    emails: few(constantFrom("a@b.de", "A@B.de")),
    domains: few(constantFrom("b.de", "B.de")),
  }),
});
const endpoint = some(
  {
    name: constantFrom("F", "f", "__proto__", "A B"),
    // Often the same one, so that other settings change alone.
    schema: oneof(
      constant({ email: { type: "string", format: "email" } }),
      dictionary(constantFrom(...names), field, { maxKeys: 4 }),
    ),
    state: constantFrom("active", "paused"),
    allowed_origins: few(constantFrom("https://EXAMPLE.com/", "https://b.example:443", "*")),
    unknown_fields: constantFrom("set-aside", "reject", "keep"),
    honeypots: orNull(few(constantFrom("website", "_gotcha"))),
    success_url: orNull(constantFrom("https://EXAMPLE.com", "https://example.com/ä b")),
    language: orNull(constantFrom("DE", "de-AT")),
    keep_days: orNull(constantFrom(1, 90)),
    store_address: constantFrom("full", "short", "none"),
    page: constantFrom("on", "off"),
    page_title: orNull(text),
    page_colour: orNull(constantFrom("#ABCDEF", "#7a3b12")),
    page_logo: orNull(constantFrom("https://example.com/l.png")),
    challenge: constantFrom("proof-of-work", "turnstile"),
    challenge_required: constantFrom("on", "off"),
    challenge_site_key: orNull(constant("0x4AAA")),
    spam,
    recipients: few(recipient),
    webhooks: few(webhook, 2),
    autoreply: orNull(
      some({
        field: constantFrom("email", "name"),
        subject: orNull(text),
        text: orNull(text),
        reply_to: orNull(constantFrom("a@example.com", "A@example.com", "b@example.com")),
      }),
    ),
  },
  ["name", "schema"],
);
const workspace = some(
  {
    name: constantFrom("W", "__proto__"),
    plan: constantFrom("hobby", "pro"),
    time_zone: orNull(constantFrom("europe/berlin", "Asia/Calcutta")),
    brand_colour: orNull(constantFrom("#ABCDEF", "#7a3b12")),
    brand_footer: orNull(text),
    spam,
    endpoints: few(endpoint),
  },
  ["name"],
);
const whole = array(workspace, { minLength: 1, maxLength: 2 })
  .map((workspaces) => checkedPart({ version: 1, workspaces }))
  .filter((each) => each !== null);

/** A file without the settings that are refused by themselves, so that most of what was generated remains; null if that is nothing. */
function checkedPart(value: object): object | null {
  const left = structuredClone(value);
  for (let round = 0; round < 50; round += 1) {
    const paths = problemsOf(left);
    if (paths.length === 0) return left;
    for (const path of paths.toReversed()) {
      const last = path.at(-1) ?? "";
      const around = path.slice(0, -1).reduce<unknown>(memberOf, left);
      if (Array.isArray(around)) around.splice(Number(last), 1);
      else if (typeof around !== "object" || around === null || last === "schema") return null;
      else Reflect.deleteProperty(around, last);
    }
  }
  return null;
}

function problemsOf(value: object): readonly (string | number)[][] {
  try {
    checked(value);
    return [];
  } catch (error) {
    const problems = (error as FormsvcError).facts.details?.["problems"];
    return (problems as { path: (string | number)[] }[]).map(({ path }) => path);
  }
}

function memberOf(value: unknown, name: string | number): unknown {
  return typeof value === "object" && value !== null
    ? (value as Record<string, unknown>)[String(name)]
    : undefined;
}

function checked(value: object): Exported {
  return checkFile({ value: structuredClone(value), lineOf: () => 1 }, "forms.yaml", {});
}

/** The settings of each endpoint that a file names, without those for which null stands for a default, and without lists. */
function settingsOf({ workspaces }: Exported): Record<string, object> {
  return Object.fromEntries(
    workspaces.flatMap(({ name, endpoints }) =>
      endpoints.map((each) => {
        const { recipients: _r, webhooks: _w, autoreply: _a, spam: _s, honeypots: _h, ...settings } = each;
        return [`${name}/${each.name}`, settings] as const;
      }),
    ),
  );
}

type Exported = Awaited<ReturnType<typeof exported>>;

/** What a file says, under the kind and name that a plan gives each thing. Recipients that differ in conditions alone are together. */
function things({ workspaces }: Exported): Map<string, string> {
  const all = new Map<string, string>();
  const add = (kind: string, name: string, value: unknown): void =>
    void all.set(`${kind} ${name}`, (all.get(`${kind} ${name}`) ?? "") + JSON.stringify(value));
  for (const { name, spam: ofWorkspace = {}, endpoints, ...settings } of workspaces) {
    add("workspace", name, settings);
    add("spam", name, ofWorkspace);
    for (const each of endpoints) {
      const { schema, spam: own = {}, recipients = [], webhooks = [], autoreply = null, ...rest } = each;
      const shown = `${name}/${each.name}`;
      add("endpoint", shown, rest);
      add("schema", shown, schema);
      add("spam", shown, own);
      add("autoreply", shown, autoreply);
      for (const one of recipients) add("recipient", `${shown} ${one.address}`, one);
      for (const { url, ...one } of webhooks) {
        const address = typeof url === "string" ? url : (url.shown ?? "");
        add("webhook", `${shown} ${address}`, { ...one, headers: Object.keys(one.headers ?? {}) });
      }
    }
  }
  return all;
}

/** The things that differ, without what belongs to an endpoint that was made or deleted and cannot be there without it. */
function differing(before: Exported, after: Exported): string[] {
  const [from, to] = [things(before), things(after)];
  const keys = [...new Set([...from.keys(), ...to.keys()])].filter((key) => from.get(key) !== to.get(key));
  const isEmpty = (value: string | undefined): boolean =>
    value === undefined || value === "{}" || value === "null";
  return keys.filter((key) => {
    const [kind = "", ...name] = key.split(" ");
    const owner = `endpoint ${name.join(" ")}`;
    const isWhole = kind !== "endpoint" && from.has(owner) !== to.has(owner);
    if (isWhole && kind === "schema") return false;
    return !(isEmpty(from.get(key)) && isEmpty(to.get(key)));
  });
}

test("whatever a file says, a plan names just what changes, the second one nothing, and no refusal comes after the first change", async () => {
  let applied = 0;
  const onEach = async (files: readonly object[]): Promise<void> => {
    const inner = performerOn(temporaryDatabase());
    let writes = 0;
    const perform: typeof inner = (operation, input) => {
      if (operation.kind !== "read") writes += 1;
      return inner(operation, input);
    };
    for (const each of files) {
      writes = 0;
      const before = await exported(perform);
      const plan = await planOf(perform, each).catch((error: unknown) => error);
      if (plan instanceof FormsvcError) {
        expect(writes).toBe(0);
        continue;
      }
      await applyTo(perform, each);
      applied += 1;
      const { changes, notes } = plan as Awaited<ReturnType<typeof planOf>>;
      // A note says of what the file does not name that it loses its field.
      const noted = notes.flatMap((note) => /^(.*): it(?:s condition| is sent)/s.exec(note)?.[1] ?? []);
      const named = [...changes.map(({ kind, name }) => `${kind} ${name}`), ...noted];
      const isFirst = before.workspaces.length === 0;
      if (!isFirst) expect(new Set(named)).toEqual(new Set(differing(before, await exported(perform))));
      const after = await exported(perform);
      for (const [name, value] of Object.entries(settingsOf(checked(each))))
        expect(settingsOf(after), name).toMatchObject({ [name]: value });
      expect(linesOf(await planOf(perform, each))).toEqual([]);
      expect(linesOf(await planOf(perform, await exported(perform), PRUNES))).toEqual([]);
    }
  };
  await assert(asyncProperty(array(whole, { minLength: 2, maxLength: 3 }), onEach), {
    numRuns: 60,
    endOnFailure: true,
  });
  expect(applied).toBeGreaterThan(40);
});
