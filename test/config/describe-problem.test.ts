import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { configSchema, secretPaths } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What is said about a configuration, without the path of its file. */
function said(content: unknown, env: Record<string, string> = {}): string {
  const file = join(temporaryFolder(), "formsvc.config.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  try {
    loadConfig(file, env);
  } catch (error) {
    return (error as Error).message.replaceAll(`${file}: `, "");
  }
  return "it was taken";
}

test.each([
  [{ backup: { keep: 0 } }, "backup.keep: 0 is too small: write a whole number from 1 to 10000"],
  [
    { webhooks: { timeoutMs: 60_001 } },
    "webhooks.timeoutMs: 60001 is too large: write a whole number of milliseconds from 100 to 60000",
  ],
  [
    { held: { days: -1 } },
    "held.days: -1 is too small: write a whole number of days from 1 to 3650, or null",
  ],
  [
    { webhooks: { probeSeconds: [30, 0] } },
    "webhooks.probeSeconds.1: 0 is too small: write a number of seconds from 0.1 to 86400",
  ],
  [
    { server: { port: 80.5 } },
    "server.port: 80.5 is not a whole number: write a whole number from 0 to 65535",
  ],
  [
    { server: { port: "80" } },
    'server.port: "80" is not a number: write a whole number from 0 to 65535, without quotes',
  ],
  [{ server: { port: null } }, "server.port: null is not a number: write a whole number from 0 to 65535"],
  [{ server: { host: 5 } }, "server.host: 5 is not a text: write a text of 1 to 255 characters"],
  [{ api: { enabled: "yes" } }, 'api.enabled: "yes" is neither true nor false: write true or false'],
  [
    { server: { trustProxy: "10.0.0.1" } },
    'server.trustProxy: "10.0.0.1" is not a list: write a list, like ["127.0.0.1"], of 0 to 1000 entries',
  ],
  [{ spam: [] }, "spam: a list is not an object: write an object with maxLinks"],
  [
    { log: { level: "wran" } },
    'log.level: "wran" is not one of the choices: write "fatal", "error", "warn", "info", "debug", "trace" or "silent"; did you mean "warn"?',
  ],
  [{ mcp: { allow: ["all"] } }, 'mcp.allow.0: "all" is not one of the choices: write "triage" or "replay"'],
  [
    { challenge: { hcaptchaUrl: "hcaptcha.com" } },
    'challenge.hcaptchaUrl: "hcaptcha.com" is not allowed: write an http or https address',
  ],
  [
    { server: { baseUrl: "ftp://ana:hunter22@a.example" } },
    'server.baseUrl: "ftp://…@a.example" is not allowed: write an http or https address, or null',
  ],
  [
    { rateLimit: { exempt: ["10.0.0"] } },
    'rateLimit.exempt.0: "10.0.0" is not allowed: write an IP address or CIDR, like 10.0.0.0/8',
  ],
  [
    { plans: { "Big Plan": {} } },
    'plans.Big Plan: "Big Plan" is not such a name: write a plan\'s name: a small letter, then up to 31 small letters, digits and hyphens',
  ],
  [
    { webhooks: { scheduleSeconds: Array(101).fill(1) } },
    "webhooks.scheduleSeconds: the list has 101 entries, which are too many: write a list, like [5, 30], of 0 to 100 entries",
  ],
  [
    { webhooks: { probeSeconds: [] } },
    "webhooks.probeSeconds: the list is empty: write a list, like [5, 30], of 1 to 100 entries",
  ],
  [{ database: { path: "" } }, "database.path: the text is empty: write a text of 1 to 4096 characters"],
  [
    { oidc: { label: "x".repeat(100) } },
    `oidc.label: "${"x".repeat(79)}…" is too long: write a text of 1 to 60 characters, or null`,
  ],
  [
    { plans: { gold: { endpoints: 1, customSpam: true } } },
    "plans.gold.monthlySubmissions: this is missing: write a whole number from 1 to 1000000000, or null",
  ],
  [
    { secrets: { keyFile: "a", key: "b" } },
    "secrets: the value is not allowed: write keyFile or key, not both",
  ],
])("a wrong value is told with what was given, what is allowed, and its unit: %j", (content, message) => {
  expect(said(content)).toBe(message);
});

test("a value from the environment is told in the same words, by its variable", () => {
  expect(said({}, { FORMSVC_FILES_LINK_DAYS: "400" })).toBe(
    "FORMSVC_FILES_LINK_DAYS: files.linkDays: 400 is too large: write a whole number of days from 1 to 365",
  );
});

const WRONG: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  0.001,
  1e16,
  "",
  "x".repeat(5000),
  "\u0000 hunter22",
  ["hunter22"],
  [],
  {},
  Array(1001).fill(false),
];
/** How Zod begins its own messages, and what its type names are called. */
const WORDS_OF_THE_LIBRARY =
  /Too (?:small|big)|Invalid |expected|received|Unrecognized|>=|<=|undefined|NaN|Infinity|object Object|another value/;

/** Every path of the schema, also of whole sections and of the entries of lists. */
function pathsOf(schema: z.ZodType, path: readonly string[] = []): (readonly string[])[] {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return pathsOf(schema.unwrap() as z.ZodType, path);
  const below =
    schema instanceof z.ZodObject
      ? Object.entries<z.ZodType>(schema.shape)
      : schema instanceof z.ZodRecord
        ? [["gold", schema.valueType as z.ZodType] as const]
        : [];
  const inside = below.flatMap(([name, each]) => pathsOf(each, [...path, name]));
  return path.length === 0 ? inside : [path, ...inside];
}

test("no setting has a wrong value about which the words of the library are said", () => {
  for (const path of pathsOf(configSchema)) {
    for (const value of WRONG) {
      const content = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      for (const line of said(content).split("\n")) {
        const message = line.replace(/^[^:]*: /, "");
        expect(message, path.join(".")).not.toMatch(WORDS_OF_THE_LIBRARY);
        if (message !== "it was taken")
          expect(message, path.join(".")).toMatch(/: write |no such setting|there is no plan/);
      }
    }
  }
}, 60_000);

test("a secret is never told, nor what stands in place of its section, nor a piece of a file that is not JSON", () => {
  for (const secret of secretPaths) {
    const names = secret.split(".");
    for (let length = 1; length <= names.length; length += 1) {
      for (const value of ["\u0000 hunter22", ["hunter22"], "hunter22\n".repeat(1000)]) {
        const content = names
          .slice(0, length)
          .reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
        expect(said(content), secret).not.toContain("hunter22");
      }
    }
  }
  const broken = said('{"mail": {"password": hunter22}}');
  expect(broken).toBe("not JSON (line 1, column 23: Unexpected token 'h')");
  expect(broken).not.toContain("unter22");
});

test("a member that stands twice in the file is refused with its path and lines", () => {
  expect(said('{"server": {"port": 1,\n"host": "::1",\n"port": 2}}')).toBe(
    "server.port: this stands twice in the file, in lines 1 and 3: keep one of them",
  );
  expect(said('{"server": {"port": 1, "port": 2}}')).toBe(
    "server.port: this stands twice in the file, in line 1: keep one of them",
  );
  const escaped = String.raw`{"log": {}, "plans": [{"a": ":{", "b": [1, {"x": "\"", "\u0078": 1}]}, {"a": 1}], "log": {}}`;
  expect(
    said(escaped)
      .split("\n")
      .map((line) => line.split(":")[0]),
  ).toEqual(["plans.0.b.1.x", "log"]);
  expect(said('{"__proto__": {}, "__proto__": {}}')).toMatch(/^__proto__: this stands twice/);
  expect(said('{"server": {"port": 1}, "mail": {"port": 1}}')).toBe("it was taken");
});

test("a variable has no member twice either", () => {
  const twice = '{"hobby":{"endpoints":1},\n"hobby":{"endpoints":2}}';
  expect(() => loadConfig(null, { FORMSVC_PLANS: twice })).toThrow(
    "FORMSVC_PLANS: plans.hobby: this stands twice in the value, in lines 1 and 2: keep one of them",
  );
  expect(() => loadConfig(null, { FORMSVC_SERVER_TRUST_PROXY: '[{"a":1,"a":2}]' })).toThrow(
    /server\.trustProxy\.0\.a: this stands twice/,
  );
});

test("what is nested deeper than any setting is refused, in the file and in a variable", () => {
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  expect(said(deep)).toMatch(/^nested deeper than 32 levels/);
  expect(() => loadConfig(null, { FORMSVC_PLANS: deep })).toThrow(/^FORMSVC_PLANS: nested deeper/);
});

test("a plan named __proto__ is refused, and not left out", () => {
  const plans = '{"__proto__":{"monthlySubmissions":1,"endpoints":1,"customSpam":true}}';
  const refused = /plans\.__proto__: "__proto__" is not such a name: write a plan's name/;
  expect(said(`{"plans":${plans}}`)).toMatch(refused);
  expect(() => loadConfig(null, { FORMSVC_PLANS: plans })).toThrow(refused);
  expect(said(`{"plans":${plans},"newWorkspacePlan":"x"}`).split("\n")).toHaveLength(2);
});

test("of a value of another kind one thing is said, also if it is long", () => {
  expect(() => loadConfig(null, { FORMSVC_RATE_LIMIT_EXEMPT: "[".repeat(2000) })).toThrow(
    /^FORMSVC_RATE_LIMIT_EXEMPT: rateLimit\.exempt: [^\n]* is not a list: [^\n]*$/,
  );
});
