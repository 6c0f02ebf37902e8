import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { renderTerraformRecipe, terraformGenerator } from "../../scripts/docs/terraform-generator.ts";
import { attributePaths, type Schema } from "../../scripts/docs/terraform-types.ts";
import { openapiDocument } from "../../src/api/openapi.ts";
import { makeFolder } from "../support/temporary-folder.ts";
import { readText } from "../tidy/repository.ts";

interface Place {
  readonly path: string;
  readonly method: string;
}
interface Shaped {
  readonly schema?: {
    readonly ignores?: readonly string[];
    readonly attributes?: { readonly aliases: Readonly<Record<string, string>> };
  };
}
interface Generator {
  readonly provider: { readonly name: string };
  readonly resources: Readonly<
    Record<string, Shaped & { create: Place; read: Place; update?: Place; delete?: Place }>
  >;
  readonly data_sources: Readonly<Record<string, Shaped & { read: Place }>>;
}
interface Content {
  readonly content: { readonly "application/json": { readonly schema: Schema } };
}
interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

/*
 * The rules of the tool's DESIGN.md: which operations a resource and a data source need, where it looks for their schemas, which types
 * become attributes, what parameters are merged with. The tool itself leaves a resource out that breaks one, with a warning.
 */

const { paths } = JSON.parse(JSON.stringify(openapiDocument(null))) as {
  paths: Record<string, Record<string, Described>>;
};
const generator = parse(terraformGenerator()) as Generator;
const IDENTIFIER = /^[a-z_][a-z0-9_]*$/;

function describedAt({ path, method }: Place): Described {
  const described = paths[path]?.[method.toLowerCase()];
  if (described === undefined) throw new Error(`the document has no ${method} ${path}`);
  return described;
}

/** Of the answer that the tool takes: 200, else 201. */
function answerOf(place: Place): Schema {
  const { responses } = describedAt(place);
  const schema = (responses["200"] ?? responses["201"])?.content["application/json"].schema;
  if (schema?.type !== "object") throw new Error(`${place.path} answers no object`);
  return schema;
}

/** What is left when the ignored members are left out. @throws if an ignored path leads nowhere */
function withoutIgnored(schemas: readonly Schema[], ignores: readonly string[] = []): string[] {
  const all = schemas.map((schema) => attributePaths(schema));
  const known = new Set(all.flatMap(({ supported, unsupported }) => [...supported, ...unsupported]));
  expect(ignores.filter((path) => !known.has(path))).toEqual([]);
  return all.flatMap(({ unsupported }) => unsupported).filter((path) => !ignores.includes(path));
}

test("the page has the configuration of today's API", () => {
  const root = new URL("../../", import.meta.url);
  expect(renderTerraformRecipe(root)).toBe(readText("docs/recipes/terraform.md").text);
  expect(readText("docs/recipes/terraform.md").text).toContain(terraformGenerator());
});

test("each resource is made and read, has only members of types that Terraform has, and an id", () => {
  expect(generator.provider.name).toMatch(IDENTIFIER);
  expect(Object.keys(generator.resources).toSorted()).toEqual([
    "account",
    "endpoint",
    "recipient",
    "webhook",
    "workspace",
  ]);
  for (const [name, resource] of Object.entries(generator.resources)) {
    const { create, read, update, delete: remove, schema = {} } = resource;
    expect(name).toMatch(IDENTIFIER);
    for (const place of [update, remove]) expect(describedAt(place!)).toBeDefined();
    const body = describedAt(create).requestBody?.content["application/json"].schema;
    expect(body?.type).toBe("object");
    const schemas = [body!, answerOf(create), answerOf(read)];
    expect(withoutIgnored(schemas, schema.ignores), name).toEqual([]);
    const parameters = describedAt(read).parameters?.filter((each) => each.in === "path") ?? [];
    expect(parameters.map((each) => schema.attributes?.aliases[each.name])).toEqual(["id"]);
    expect(schemas.some(({ properties = {} }) => Object.hasOwn(properties, "id"))).toBe(false);
    const shown = answerOf(read).properties?.[name]?.properties ?? {};
    expect(Object.keys(shown), name).toContain("id");
  }
});

test("each data source is a list whose members have types that Terraform has", () => {
  expect(Object.keys(generator.data_sources)).toContain("endpoints");
  for (const [name, { read, schema = {} }] of Object.entries(generator.data_sources)) {
    expect(name).toMatch(IDENTIFIER);
    expect(withoutIgnored([answerOf(read)], schema.ignores), name).toEqual([]);
    for (const { name: parameter, schema: type } of describedAt(read).parameters ?? []) {
      expect(parameter).toMatch(IDENTIFIER);
      expect(attributePaths({ properties: { [parameter]: type } }).unsupported).toEqual([]);
    }
  }
});

const TOOL = "tfplugingen-openapi";
const hasTool = spawnSync(TOOL, ["--version"]).error === undefined;
if (!hasTool) process.stderr.write(`${TOOL} is not installed: it is not tried itself, only its rules are.\n`);

test.skipIf(!hasTool)("the tool itself takes the configuration, and leaves nothing out", () => {
  const folder = makeFolder();
  try {
    writeFileSync(join(folder.path, "generator_config.yml"), terraformGenerator());
    writeFileSync(
      join(folder.path, "openapi.json"),
      JSON.stringify(openapiDocument("https://forms.example.com")),
    );
    const args = [
      "generate",
      "--config",
      "generator_config.yml",
      "--output",
      "specification.json",
      "openapi.json",
    ];
    const { status, stdout, stderr } = spawnSync(TOOL, args, { cwd: folder.path, encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([0, "", ""]);
    const made = JSON.parse(readFileSync(join(folder.path, "specification.json"), "utf8")) as {
      readonly resources: readonly { readonly name: string }[];
      readonly datasources: readonly { readonly name: string }[];
    };
    const namesOf = (each: readonly { readonly name: string }[]) => each.map(({ name }) => name).toSorted();
    expect(namesOf(made.resources)).toEqual(Object.keys(generator.resources).toSorted());
    expect(namesOf(made.datasources)).toEqual(Object.keys(generator.data_sources).toSorted());
  } finally {
    folder.remove();
  }
});

test("the rules refuse what has no type in Terraform", () => {
  const properties: Record<string, Schema> = {
    any: {},
    mixed: { anyOf: [{ type: "string" }, { type: "number" }] },
    map_of_any: { type: "object", additionalProperties: {} },
    "not-a-name": { type: "string" },
    list: { type: "array", items: { type: "object", properties: { deep: {}, fine: { type: "string" } } } },
    nullable: { anyOf: [{ type: "string" }, { type: "null" }] },
    map: { type: "object", additionalProperties: { type: "string" } },
  };
  expect(attributePaths({ properties })).toEqual({
    supported: ["list", "list.fine", "nullable", "map"],
    unsupported: ["any", "mixed", "map_of_any", "not-a-name", "list.deep"],
  });
});
