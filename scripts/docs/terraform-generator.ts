import { readFileSync } from "node:fs";
import { stringify } from "yaml";
import { isList } from "../../src/api/list-pages.ts";
import { openapiDocument } from "../../src/api/openapi.ts";
import { type ApiRoute, ROUTES } from "../../src/api/routes.ts";
import { attributePaths, type Schema } from "./terraform-types.ts";

const PAGE = "docs/recipes/terraform.md";

/** Renders the page about Terraform. Its only block of YAML gets the configuration for today's API. */
export function renderTerraformRecipe(root: URL): string {
  const page = readFileSync(new URL(PAGE, root), "utf8");
  return page.replace(/^```yaml generator_config\.yml\n[^]*?^```$/m, () =>
    ["```yaml generator_config.yml", terraformGenerator().trimEnd(), "```"].join("\n"),
  );
}

interface Place {
  readonly path: string;
  readonly method: string;
}

/** Writes what `tfplugingen-openapi` needs beside the OpenAPI document: lists, and resources that are made and then read by an id. */
export function terraformGenerator(): string {
  const resources = ROUTES.filter(({ method, status }) => method === "POST" && status === 201).flatMap(
    (create) => {
      const read = ROUTES.find(
        ({ method, path }) => method === "GET" && path.replace(/:\w+$/, "") === `${create.path}/`,
      );
      return read === undefined || create.path.includes(":") ? [] : [[create, read] as const];
    },
  );
  const lists = ROUTES.filter(({ operation, path }) => isList(operation) && !path.includes(":"));
  return stringify(
    {
      provider: { name: "formsvc" },
      resources: Object.fromEntries(
        resources.map(([create, read]) => [nounOf(create), resourceOf(create, read)]),
      ),
      data_sources: Object.fromEntries(lists.map((read) => [nameOf(read), sourceOf(read)])),
    },
    { lineWidth: 0 },
  );
}

const nounOf = ({ operation }: ApiRoute): string => operation.name.split(".", 1)[0] ?? "";
const nameOf = ({ path }: ApiRoute): string => path.slice(1).replaceAll(/[^a-z]/g, "_");

function resourceOf(create: ApiRoute, read: ApiRoute): object {
  const own = (method: string): Place | undefined => {
    const route = ROUTES.find((each) => each.method === method && each.path === read.path);
    return route && placeOf(route);
  };
  const [, parameter = ""] = /:(\w+)$/.exec(read.path) ?? [];
  const ignores = ignoredOf(placeOf(create), placeOf(read));
  return {
    create: placeOf(create),
    read: placeOf(read),
    update: own("PATCH"),
    delete: own("DELETE"),
    schema: { ...(ignores.length > 0 && { ignores }), attributes: { aliases: { [parameter]: "id" } } },
  };
}

function sourceOf(read: ApiRoute): object {
  const ignores = ignoredOf(placeOf(read));
  return { read: placeOf(read), ...(ignores.length > 0 && { schema: { ignores } }) };
}

function placeOf({ path, method }: ApiRoute): Place {
  return { path: `/api/v1${path.replaceAll(/:(\w+)/g, "{$1}")}`, method };
}

interface Content {
  readonly content?: { readonly "application/json"?: { readonly schema: Schema } };
}

interface Described {
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

const { paths } = openapiDocument(null) as { paths: Record<string, Record<string, Described>> };

/**
 * Lists the members for which Terraform has no type, like values of any type. Without this list, the tool would leave out their whole
 * resource.
 */
function ignoredOf(...places: readonly Place[]): string[] {
  const schemas = places.flatMap(({ path, method }) => {
    const described = paths[path]?.[method.toLowerCase()];
    return [described?.requestBody, described?.responses["200"] ?? described?.responses["201"]].flatMap(
      (each) => each?.content?.["application/json"]?.schema ?? [],
    );
  });
  return [...new Set(schemas.flatMap((schema) => attributePaths(schema).unsupported))].toSorted();
}
