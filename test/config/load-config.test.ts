import { defaultChallenge } from "../../src/config/challenge-section.ts";
import { defaultTrustedUser } from "../../src/config/trusted-user-section.ts";
import { defaultOidc } from "../../src/config/oidc-section.ts";
import { defaultFiles } from "../../src/config/files-section.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BUILT_IN_PLANS } from "../support/built-in-plans.ts";
import { z } from "zod";
import { describeFailure } from "../../src/cli/output/hints.ts";
import { type Config, configSchema, defaultConfig } from "../../src/config/config.ts";
import { environmentName, loadConfig } from "../../src/config/load-config.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function fileWith(content: unknown): string {
  const file = join(temporaryFolder(), "formsvc.config.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

function load(content: unknown, env: Record<string, string> = {}): Config {
  return loadConfig(fileWith(content), env).config;
}

function refusal(content: unknown, env: Record<string, string> = {}): FormsvcError {
  try {
    load(content, env);
  } catch (error) {
    if (error instanceof FormsvcError) return error;
    throw error;
  }
  throw new Error("it was taken");
}

/** Every path of the schema that has a value of its own, with that value's schema. */
function leaves(schema: z.ZodType, path: readonly string[] = []): { path: string[]; schema: z.ZodType }[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, below]) =>
      leaves(below, [...path, name]),
    );
  }
  if (schema instanceof z.ZodRecord) return leaves(schema.valueType as z.ZodType, [...path, "hobby"]);
  return [{ path: [...path], schema }];
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((held, name) => (held as Record<string, unknown>)[name], value);
}

const PLAIN_VALUES = [true, false, 4242, 42_424_242, 7, 14, 0.25];

/** A valid value that is not the default, in its text as an environment variable. */
function otherValue(schema: z.ZodType, current: unknown): { text: string; value: unknown } {
  const candidates: unknown[] = [
    ...PLAIN_VALUES,
    null,
    ["192.0.2.0/24"],
    ["triage"],
    [1, 2.5],
    "warn",
    "pretty",
    "https://forms.example.com",
    "./elsewhere",
    "127.0.0.1:4242",
    "forms@example.com",
    "example.com",
    "starttls",
    "open",
    "off",
    "s3",
    "refuse",
    "postgresql://ana@db.example/forms",
    "tcp://192.0.2.1:3310",
  ];
  const value = candidates.find(
    (candidate) =>
      JSON.stringify(candidate) !== JSON.stringify(current) && schema.safeParse(candidate).success,
  );
  if (value === undefined) throw new Error("no other value found");
  return { text: typeof value === "string" ? value : JSON.stringify(value), value };
}

const paths = leaves(configSchema).map(({ path, schema }) => ({ path, schema, name: path.join(".") }));

test("the defaults are those that docs/configuration.md promises", () => {
  expect(loadConfig(fileWith({}), {}).config).toEqual({
    server: {
      host: "127.0.0.1",
      port: 8787,
      baseUrl: null,
      trustProxy: [],
      bodyLimitBytes: 65_536,
      requestTimeoutMs: 10_000,
      shutdownGraceMs: 15_000,
    },
    database: { path: "./formsvc.db", url: null, poolSize: 8 },
    plans: BUILT_IN_PLANS,
    rateLimit: {
      publishable: { max: 10, windowSeconds: 60 },
      secret: { max: 600, windowSeconds: 60 },
      badKey: { max: 10, windowSeconds: 60 },
      token: { max: 600, windowSeconds: 60 },
      exempt: [],
    },
    metrics: { enabled: false, token: null, listen: null },
    files: defaultFiles,
    api: { enabled: true },
    oidc: defaultOidc,
    mcp: { enabled: false, allow: [], redact: false },
    dashboard: {
      enabled: true,
      listen: null,
      allowNetworks: [],
      sessionIdleHours: 168,
      sessionMaxDays: 30,
      signUp: "closed",
      passwords: "on",
      trustedUserHeader: defaultTrustedUser,
      logAddresses: false,
    },
    backup: { everyHours: null, keep: 7, directory: "./backups" },
    spam: { maxLinks: 3 },
    challenge: defaultChallenge,
    secrets: { keyFile: null, key: null },
    submissions: { binDays: 30 },
    held: { days: 30, maxPerWorkspace: 10_000, maxBytes: null, maxFileBytes: 52_428_800 },
    webhooks: {
      scheduleSeconds: [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 86_400],
      timeoutMs: 10_000,
      allowNetworks: [],
      limits: { total: 64, perWebhook: 4, perHost: 8 },
      probeSeconds: [30, 60, 120, 300, 600, 900],
      keepDeliveredDays: 30,
    },
    mail: {
      host: null,
      port: 587,
      security: "auto",
      user: null,
      password: null,
      passwordFile: null,
      from: null,
      envelopeFrom: null,
      dkim: { domain: null, selector: null, keyFile: null },
      timeoutMs: 60_000,
      limits: {
        total: 2,
        perMinute: 60,
        perRecipientPerHour: 30,
        confirmationsPerHour: 60,
        repliesPerWorkspacePerHour: 100,
        repliesPerHour: 300,
      },
      scheduleSeconds: [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 86_400, 86_400],
      keepSentDays: 30,
      operator: null,
    },
    newWorkspacePlan: "hobby",
    log: { level: "info", format: "auto" },
  });
});

test("an allowed network is an address, a CIDR or a host name, and no number or rest of one", () => {
  const read = (entry: string) => load({ webhooks: { allowNetworks: [entry] } }, {}).webhooks.allowNetworks;
  for (const good of ["10.0.0.0/8", "::1", "fd00::/8", "n8n", "n8n.internal.", "my_host-1.lan"]) {
    expect(read(good)).toEqual([good]);
  }
  for (const bad of ["", "10.0.0", "10.0.0.0/33", "http://n8n", "a b", "-n8n", "n8n:5678"]) {
    expect(() => read(bad), bad).toThrow(/address, a CIDR or a host name/);
  }
});

test("the defaults satisfy their own schema", () => {
  expect(configSchema.parse(defaultConfig)).toEqual(defaultConfig);
});

describe("an environment variable overrides each value", () => {
  test.each(paths)("$name", ({ path, schema }) => {
    const name = environmentName(path);
    const { text, value } = otherValue(schema, at(defaultConfig, path));
    // A plan must be configured.
    const plans = path[0] === "newWorkspacePlan" ? { plans: { [text]: defaultConfig.plans["pro"] } } : {};
    expect(at(load(plans, { [name]: text }), path)).toEqual(value);
  });

  test.each([
    [["rateLimit", "publishable", "max"], "FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX"],
    [["server", "port"], "FORMSVC_SERVER_PORT"],
    [["server", "baseUrl"], "FORMSVC_SERVER_BASE_URL"],
    [["database", "path"], "FORMSVC_DATABASE_PATH"],
    [["plans", "my-plan", "monthlySubmissions"], "FORMSVC_PLANS_MY_PLAN_MONTHLY_SUBMISSIONS"],
  ])("%j is %s", (path, name) => {
    expect(environmentName(path)).toBe(name);
  });

  test("no two values share a variable", () => {
    const names = paths.map(({ path }) => environmentName(path));
    expect(new Set(names).size).toBe(names.length);
  });

  test("over what the file says, which stands over the default", () => {
    const file = { server: { port: 1111, host: "0.0.0.0" } };
    const { server } = load(file, { FORMSVC_SERVER_PORT: "2222" });
    expect(server).toEqual({ ...defaultConfig.server, port: 2222, host: "0.0.0.0" });
  });

  test("with a whole object as JSON, merged into what is there", () => {
    const { rateLimit, plans } = load(
      {},
      {
        FORMSVC_RATE_LIMIT_SECRET: '{"max":5}',
        FORMSVC_RATE_LIMIT_SECRET_WINDOW_SECONDS: "9",
        FORMSVC_PLANS: '{"team":{"monthlySubmissions":5,"endpoints":6,"customSpam":false}}',
      },
    );
    expect(rateLimit).toEqual({ ...defaultConfig.rateLimit, secret: { max: 5, windowSeconds: 9 } });
    expect(Object.keys(plans)).toEqual(["hobby", "pro", "business", "team"]);
  });

  test("but none sets a whole section by its name; the server of commands is no section either", () => {
    const env = {
      FORMSVC_SERVER: "https://forms.example.com",
      FORMSVC_TOKEN: "fat_x",
      FORMSVC_MAIL: '{"port":1}',
    };
    const loaded = loadConfig(fileWith({}), env);
    expect(loaded.config).toEqual(defaultConfig);
    expect([loaded.variables, loaded.unknownVariables]).toEqual([[], ["FORMSVC_MAIL"]]);
  });

  test("as text if the setting takes a text, even if it looks like a number or like null", () => {
    expect(load({}, { FORMSVC_DATABASE_PATH: "12" }).database.path).toBe("12");
    expect(load({}, { FORMSVC_DATABASE_PATH: "null" }).database.path).toBe("null");
    expect(load({}, { FORMSVC_SERVER_BASE_URL: "null" }).server.baseUrl).toBeNull();
  });

  test("of a plan that only the file has", () => {
    const file = { plans: { "big-one": { monthlySubmissions: 1, endpoints: 1, customSpam: true } } };
    const { plans } = load(file, { FORMSVC_PLANS_BIG_ONE_ENDPOINTS: "77" });
    expect(plans["big-one"]?.endpoints).toBe(77);
  });

  test("while other FORMSVC variables are not read", () => {
    expect(load({}, { FORMSVC_NOTHING: "1", FORMSVC_SECRET_KEY: "fsk_x", FORMSVC_SERVERPORT: "x" })).toEqual(
      defaultConfig,
    );
  });
});

describe("a wrong value stops the program and is named by its path", () => {
  test.each([
    ["an unknown section", { sever: {} }, "sever"],
    ["an unknown value", { server: { prot: 1 } }, "server.prot"],
    ["an unknown value of a plan", { plans: { hobby: { price: 1 } } }, "plans.hobby.price"],
    ["a text for a number", { server: { port: "80" } }, "server.port"],
    ["a fraction", { server: { port: 80.5 } }, "server.port"],
    ["a port that there is not", { server: { port: 65_536 } }, "server.port"],
    ["a negative limit", { rateLimit: { secret: { max: -1 } } }, "rateLimit.secret.max"],
    ["a limit of 0", { plans: { pro: { monthlySubmissions: 0 } } }, "plans.pro.monthlySubmissions"],
    ["null if the setting cannot be off", { server: { port: null } }, "server.port"],
    ["a number for a section", { server: 5 }, "server"],
    ["a list for a section", { log: [] }, "log"],
    [
      "an entry that is no network",
      { server: { trustProxy: ["10.0.0.0/8", "proxy.example"] } },
      "server.trustProxy.1",
    ],
    ["an address that is none", { rateLimit: { exempt: ["10.0.0"] } }, "rateLimit.exempt.0"],
    [
      "a base address with a slash at its end",
      { server: { baseUrl: "https://a.example/" } },
      "server.baseUrl",
    ],
    ["a base address of another scheme", { server: { baseUrl: "ftp://a.example" } }, "server.baseUrl"],
    ["an unknown level", { log: { level: "loud" } }, "log.level"],
    ["a body limit of nothing", { server: { bodyLimitBytes: 0 } }, "server.bodyLimitBytes"],
    ["an empty path", { database: { path: "" } }, "database.path"],
    ["a plan with a bad name", { plans: { "Big Plan": defaultConfig.plans["pro"] } }, "plans.Big Plan"],
  ])("%s", (_, content, path) => {
    const error = refusal(content);
    expect(error.code).toBe("config_invalid");
    expect(error.message).toContain(` ${path}: `);
    expect(error.message).toContain("formsvc.config.json");
  });

  test("all of them at once", () => {
    const { message } = refusal({ server: { port: -1, host: 5 }, log: { level: "x" } });
    for (const path of ["server.port", "server.host", "log.level"]) expect(message).toContain(path);
    expect(message.split("\n")).toHaveLength(3);
  });

  test("and by its variable if it came from the environment, also inside a list", () => {
    expect(refusal({}, { FORMSVC_SERVER_PORT: "eighty" }).message).toMatch(
      /^FORMSVC_SERVER_PORT: server\.port: /,
    );
    expect(refusal({}, { FORMSVC_SERVER_PORT: "" }).message).toMatch(/^FORMSVC_SERVER_PORT: /);
    expect(refusal({}, { FORMSVC_SERVER_TRUST_PROXY: '["x"]' }).message).toMatch(
      /^FORMSVC_SERVER_TRUST_PROXY: server\.trustProxy\.0: /,
    );
    expect(refusal({}, { FORMSVC_SERVER_TRUST_PROXY: "10.0.0.1" }).message).toMatch(
      /^FORMSVC_SERVER_TRUST_PROXY: /,
    );
  });

  test("if the plan of new workspaces is not configured, with the plans that are", () => {
    const { message } = refusal({ newWorkspacePlan: "gold" });
    expect(message).toMatch(/: newWorkspacePlan: there is no plan gold; plans has: hobby, pro, business$/);
    expect(refusal({}, { FORMSVC_NEW_WORKSPACE_PLAN: "gold" }).message).toMatch(
      /^FORMSVC_NEW_WORKSPACE_PLAN: /,
    );
    const none = z.object({}).parse({});
    expect(configSchema.safeParse({ ...defaultConfig, plans: none }).success).toBe(false);
    const gold = { monthlySubmissions: null, endpoints: null, customSpam: true };
    const loaded = load({ newWorkspacePlan: "gold", plans: { gold } }, {});
    expect(loaded.newWorkspacePlan).toBe("gold");
    // Configurations of before say nothing of it.
    expect(loaded.plans["gold"]?.heldBytes).toBe(33_554_432);
  });

  test("with the exit code of a wrong configuration, which no other failure of loading has", () => {
    for (const content of ["{", "[]", "null", '"x"', "", { server: { x: 1 } }]) {
      expect(refusal(content).code).toBe("config_invalid");
    }
  });
});

test("variables that set something and variables that are nobody's are told apart", () => {
  const loaded = loadConfig(
    fileWith({ plans: { team: { monthlySubmissions: 1, endpoints: 1, customSpam: true } } }),
    {
      FORMSVC_SERVR_PORT: "1",
      FORMSVC_SERVER_PORT: "2",
      FORMSVC_PLANS_TEAM_ENDPOINTS: "3",
      FORMSVC_PLANS_NONE_ENDPOINTS: "4",
      FORMSVC_SECRET_KEY: "fsk_of_a_script",
      FORMSVC_CONFIG: "",
      FORMSVC_DATABASE_PATH: "", // Unset as the files of variables and of containers can do it.
      SERVER_PORT: "5",
    },
  );
  expect(loaded.variables).toEqual(["FORMSVC_SERVER_PORT", "FORMSVC_PLANS_TEAM_ENDPOINTS"]);
  expect(loaded.unknownVariables).toEqual(["FORMSVC_SERVR_PORT", "FORMSVC_PLANS_NONE_ENDPOINTS"]);
  expect(loaded.config.plans["team"]?.endpoints).toBe(3);
});

describe("the file", () => {
  test("that --config names must exist, and the message says how to make one", () => {
    const missing = join(temporaryFolder(), "none.json");
    const told = (): void => {
      try {
        loadConfig(missing, {});
      } catch (error) {
        throw new Error(describeFailure(error as FormsvcError), { cause: error });
      }
    };
    expect(told).toThrow(/none\.json: there is no such file; .*formsvc init/);
  });

  test("that FORMSVC_CONFIG names must exist too, and --config stands above it", () => {
    const missing = join(temporaryFolder(), "none.json");
    const file = fileWith({ server: { port: 4711 } });
    expect(() => loadConfig(null, { FORMSVC_CONFIG: missing })).toThrow(/no such file/);
    expect(loadConfig(null, { FORMSVC_CONFIG: file }).config.server.port).toBe(4711);
    expect(loadConfig(file, { FORMSVC_CONFIG: missing })).toMatchObject({ file });
  });

  test("that is a folder cannot be read", () => {
    expect(() => loadConfig(temporaryFolder(), {})).toThrow(/cannot be read/);
  });

  test("that is not JSON is named with the place", () => {
    expect(refusal('{"server": }').message).toMatch(/formsvc\.config\.json: not JSON \(.+\)/);
  });

  test("may begin with a byte order mark", () => {
    expect(load('\uFEFF{"server":{"port":1}}').server.port).toBe(1);
  });

  test("cannot reach a prototype", () => {
    const error = refusal('{"__proto__":{"polluted":true},"server":{"__proto__":{"port":1}}}');
    expect(error.message).toContain("__proto__");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("merges objects member by member, and replaces lists whole", () => {
    const config = load({
      plans: { hobby: { endpoints: 9 } },
      rateLimit: { exempt: ["10.0.0.1"], secret: { max: null } },
    });
    expect(config.plans["hobby"]).toEqual({ ...defaultConfig.plans["hobby"], endpoints: 9 });
    expect(config.rateLimit).toEqual({
      ...defaultConfig.rateLimit,
      exempt: ["10.0.0.1"],
      secret: { max: null, windowSeconds: 60 },
    });
  });
});
