import { readdirSync, readlinkSync } from "node:fs";
import type { Answer } from "./http-client.ts";
import { addFormOwner, type FormOwner } from "./form-owner.ts";
import { formsIn } from "./page-forms.ts";
import { startServer, type TestServer } from "./test-server.ts";
import { multipart } from "./uploads.ts";
import { visit, type Visitor } from "./visitor.ts";

/** The page on which posts are imported into a form. */
function importPage({ endpoint }: Pick<FormOwner, "endpoint">): string {
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

export const HEAD = "created_at,name,email,message";
const row = (number: number): string =>
  `2026-01-31T10:00:00Z,Visitor ${number},v${number}@example.org,"Row, ${number}"`;
/** A CSV table that the form of these tests accepts. */
export const table = (rows: number): string =>
  `${HEAD}\n${Array.from({ length: rows }, (_, number) => row(number)).join("\n")}\n`;

/** Starts a server with a person who has a form, and returns functions for what they do on the import page. */
export async function openImport() {
  const server = await startServer();
  // The first account is the operator.
  await visit(server, "operator@example.com");
  const ben = await addFormOwner(server, "ben@example.org");
  return { server, ben, ...pagesFor(server, ben) };
}

function pagesFor(server: TestServer, ben: FormOwner) {
  const address = importPage(ben);
  const shown = async (): Promise<string> => (await ben.get(address)).text;
  return {
    address,
    shown,
    choose: (file: ChosenFile) => sendFile(server, ben, address, file),
    /** Sends the form with this button from the page, with changed choices. */
    press: async (button: "look" | "begin", choices: Record<string, string> = {}) => {
      const form = formsIn(await shown(), address).find(({ action }) => action === `${address}/${button}`);
      return ben.post(`${address}/${button}`, { ...Object.fromEntries(form?.fields ?? []), ...choices });
    },
  };
}

/** Counts the open files of this process that hold an upload and have no name any more. */
export function openSpools(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes(".formsvc-upload-");
    } catch {
      return false;
    }
  }).length;
}

/** Reads the counts that the page shows, in their order. */
export function counts(text: string): number[] {
  const [, facts = ""] = /<dl class="facts">([\s\S]*?)<\/dl>/.exec(text) ?? [];
  return [...facts.matchAll(/<dd class="num">([\d,\s]+)<\/dd>/g)].map(([, count = ""]) =>
    Number(count.replaceAll(/\D/g, "")),
  );
}
