import type { Answer } from "./http-client.ts";
import type { FormOwner } from "./form-owner.ts";
import type { TestServer } from "./test-server.ts";
import { multipart } from "./uploads.ts";
import type { Visitor } from "./visitor.ts";

/** The page on which posts are imported into a form. */
export function importPage({ endpoint }: Pick<FormOwner, "endpoint">): string {
  return `/dashboard/endpoints/${endpoint.id}/import`;
}

/** A file that somebody chooses on a page. */
export interface ChosenFile {
  readonly bytes: Buffer | string;
  readonly name?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Sends the form with the file, as a browser does. */
export async function sendFile(
  server: Pick<TestServer, "request">,
  { cookie }: Pick<Visitor, "cookie">,
  path: string,
  { bytes, name = "old posts.csv", fields = {} }: ChosenFile,
): Promise<Answer> {
  const form = await multipart([...Object.entries(fields), ["file", { name, bytes }]]);
  const headers = { cookie, "sec-fetch-site": "same-origin", ...form.headers };
  return server.request({ method: "POST", path, headers, body: form.body });
}
