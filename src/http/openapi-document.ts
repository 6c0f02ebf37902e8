import { version } from "../foundation/version.ts";

type Json = Record<string, unknown>;

/** What the OpenAPI document says about the server as a whole. */
interface Described {
  readonly title: string;
  readonly description: string;
  readonly paths: Json;
  readonly schemas: Json;
  readonly securitySchemes: Json;
}

/** Makes an OpenAPI 3.1 document of the server. @param baseUrl the address that clients use; null if only the socket's address is known */
export function openapiOf(
  { title, description, paths, ...components }: Described,
  baseUrl: string | null,
): Json {
  return {
    openapi: "3.1.0",
    info: { title, version, description, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: baseUrl ?? "/" }],
    paths,
    components,
  };
}
