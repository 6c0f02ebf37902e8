import { z } from "zod";
import { exportFile } from "../apply/export-file.ts";
import type { PerformAnywhere } from "../apply/read-current.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { SpamParts } from "../endpoints/spam-operations.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { reachEndpointIds } from "../endpoints/viewable-endpoints.ts";
import { jsonText } from "../foundation/plain-text.ts";
import { type ArchiveMember, zipStream } from "../foundation/zip-stream.ts";
import { type Context, operation } from "../operations/operation.ts";
import { type Door, perform, performStream } from "../operations/perform.ts";
import type { SearchParts } from "../submissions/find/choose-submissions.ts";
import { exportSubmissions } from "../submissions/export/export-submissions.ts";
import { listHeld } from "../submissions/held/held-operations.ts";
import { reachWorkspace } from "../workspaces/reach.ts";
import { filesOf } from "./kept-files.ts";

/** The number of held posts on one page; `held.list` also ends a page by its bytes. */
const PAGE_ROWS = 100;

type Parts = SearchParts & SpamParts;

const partShape = z.strictObject({
  base64: z.string().describe("Bytes of the archive in base64: they follow the bytes of the part before."),
  endpoints: z
    .number()
    .describe("The number of endpoints in the archive so far; the next three members are such numbers too."),
  submissions: z.number(),
  held: z.number(),
  files: z.number(),
  notes: z
    .array(z.string())
    .readonly()
    .describe("What settings.json cannot contain, each with the reason; empty in all parts but the last."),
});

type Part = z.output<typeof partShape>;
type Counts = Omit<Part, "base64" | "notes">;

export const exportWorkspace = operation({
  name: "workspace.export",
  summary: "Give a workspace as a ZIP archive: its settings, submissions, held posts and their files",
  kind: "stream",
  access: "workspace:export",
  input: z.strictObject({
    workspace: z.string().describe("Id of the workspace, or its name if that is unique."),
  }),
  output: partShape,
  async run(context: Context<Parts>, { workspace: reference }) {
    const { id } = await context.db.read(() => reachWorkspace(context, reference));
    return partsOf(context, id);
  },
});

/** Makes the parts of the archive. One part is in memory at a time, and an entry of the archive's directory for each file. */
async function* partsOf(context: Context<Parts>, workspace: string): AsyncGenerator<Part, void> {
  const counts: Counts = { endpoints: 0, submissions: 0, held: 0, files: 0 };
  const notes: string[] = [];
  for await (const bytes of zipStream(membersOf(context, workspace, { counts, notes })))
    if (bytes.length > 0) yield { base64: bytes.toString("base64"), ...counts, notes: [] };
  yield { base64: "", ...counts, notes };
}

interface ExportNotes {
  readonly counts: Counts;
  readonly notes: string[];
}

async function* membersOf(
  context: Context<Parts>,
  workspace: string,
  { counts, notes }: ExportNotes,
): AsyncGenerator<ArchiveMember> {
  const door = doorOf(context);
  const settings = await exportFile(performing(door), workspace);
  notes.push(...settings.notes);
  counts.endpoints = settings.file.workspaces[0]?.endpoints.length ?? 0;
  yield { name: "settings.json", content: [`${jsonText(settings.file, 2)}\n`] };
  yield { name: "submissions.ndjson", content: submissionsOf(context, door, { workspace, counts }) };
  yield { name: "held.ndjson", content: heldOf(door, workspace, counts) };
  // The endpoints are read again for each file, so that nothing more goes out of one that the actor may no longer see.
  const endpoints = (): Steps<readonly string[]> => endpointsOf(context, workspace);
  for await (const member of filesOf(context.db, endpoints)) {
    counts.files += 1;
    yield member;
  }
}

function* endpointsOf(context: Context, workspace: string): Steps<readonly string[]> {
  return (yield* reachEndpointIds(context, { endpoint: null, workspace })) ?? [];
}

/** A door for the operations that the archive is made of: each checks the actor's rights by itself. */
function doorOf({ db, config, now, actor, parts, gone }: Context<Parts>): Door<Parts> {
  return { db, config, now, actor, parts, ...(gone && { gone }), onChange: () => undefined };
}

/** The operations that read the settings need no other parts than these. */
function performing(door: Door<Parts>): PerformAnywhere {
  return (read, input) => perform({ ...door, parts: door.parts as never }, read, input);
}

/** The beginning of each line of an export. */
const LINE_HEAD = /^\{"id":"\w+","endpoint_id":"(\w+)",/gm;

/** Each submission gets the name of its endpoint besides the id, because a server that applies the settings gives endpoints other ids. */
async function* submissionsOf(
  { db }: Context<Parts>,
  door: Door<Parts>,
  { workspace, counts }: { readonly workspace: string; readonly counts: Counts },
): AsyncGenerator<string> {
  const nameOf = endpointNames(db);
  const input = { workspace, format: "ndjson" } as const;
  for await (const { text, count } of await performStream(door, exportSubmissions, input)) {
    counts.submissions = count;
    const names = new Map<string, string>();
    for (const [, id = ""] of text.matchAll(LINE_HEAD)) names.set(id, await nameOf(id));
    yield text.replaceAll(
      LINE_HEAD,
      (head, id: string) => `${head}"endpoint_name":${jsonText(names.get(id))},`,
    );
  }
}

/** Returns a function that finds the name of an endpoint; each is looked up once. */
function endpointNames(db: Database): (id: string) => Promise<string> {
  const known = new Map<string, string>();
  return async (id) => {
    const name = known.get(id) ?? (await db.read(() => findEndpoint(id)))?.name ?? "";
    known.set(id, name);
    return name;
  };
}

async function* heldOf(door: Door<Parts>, workspace: string, counts: Counts): AsyncGenerator<string> {
  const nameOf = endpointNames(door.db);
  let cursor: string | null = null;
  do {
    const page: z.output<typeof listHeld.output> = await perform(door, listHeld, {
      workspace,
      limit: PAGE_ROWS,
      cursor,
    });
    counts.held += page.data.length;
    const lines: string[] = [];
    for (const { id, ...post } of page.data)
      lines.push(jsonText({ id, endpoint_name: await nameOf(post.endpoint_id), ...post }));
    yield lines.map((line) => `${line}\n`).join("");
    cursor = page.next_cursor;
  } while (cursor !== null);
}
