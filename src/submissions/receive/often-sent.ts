import { shorten } from "../../foundation/shorten.ts";
import { NOT_BINNED_SQL } from "../stored/submission-bin.ts";
import { all, type Steps, text } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";
import { getEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { type Finding, sound } from "../../foundation/finding.ts";
import { firstIdAt } from "../../foundation/id.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { listPageFaults } from "./page-faults.ts";
import { addFieldAt } from "../../schemas/add-field.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** Inputs that a form often sent lately, though it has no such fields. */
export interface OftenSent {
  readonly endpointId: string;
  readonly endpointName: string;
  /** The names of these inputs, the most frequent first; at most {@link MAX_NAMES}. */
  readonly names: readonly string[];
  /** Names of inputs with the name of a file as value: the form sends the name instead of the file. */
  readonly files: readonly string[];
}

/** The number of recent posts that must have a name before it is reported. The name of a file is reported at once. */
const OFTEN = 3;
/** The number of newest submissions with unknown fields that are looked at, for each form. */
const MAX_LOOKED = 50;
/** The largest number of forms that are reported at once. */
const MAX_FORMS = 5;
const MAX_NAMES = 5;
const MAX_NAME_LENGTH = 60;
/** Submissions older than this are not looked at. */
const REPORTED_MS = 30 * DAY_MS;

/** A file name, which is all that a browser sends of a file if the form has no `enctype`. */
const FILE_NAME =
  /^[^/\\\n]{1,200}\.(?:jpe?g|png|gif|webp|heic|heif|avif|svg|bmp|tiff?|pdf|docx?|odt|rtf|xlsx?|ods|csv|pptx?|odp|zip|txt|mp[34]|mov|webm|m4a|wav)$/i;

/** Whether a text is the bare name of a file. */
export function isFileName(value: unknown): boolean {
  return typeof value === "string" && FILE_NAME.test(value);
}

/** Looks at the newest submissions of some forms, using an index. @param workspaceIds null means all workspaces */
export function* listOftenSent(workspaceIds: readonly string[] | null, now: number): Steps<OftenSent[]> {
  const since = firstIdAt("sub", now - REPORTED_MS);
  const forms = yield* all(
    text<{ id: string; number: number }>(
      formsSql(workspaceIds === null ? "" : `AND endpoint.workspace_id IN ${LISTED}`),
      since,
      ...(workspaceIds === null ? [] : [listParameter(workspaceIds)]),
      MAX_FORMS,
    ),
  );
  const found: OftenSent[] = [];
  for (const { id, number } of forms) {
    const rows = yield* all(text<{ fields: string }>(NEWEST_SQL, number, since, MAX_LOOKED));
    const often = yield* oftenOf(
      id,
      rows.map(({ fields }) => JSON.parse(fields) as Record<string, unknown>),
    );
    if (often.names.length > 0 || often.files.length > 0) found.push(often);
  }
  return found;
}

const formsSql = (condition: string): string => `SELECT endpoint.id, number
  FROM endpoint_number JOIN endpoint ON endpoint.id = endpoint_id
  WHERE EXISTS (SELECT 1 FROM submission
    WHERE endpoint_number = number AND unknown_fields IS NOT NULL AND submission.id >= ?) ${condition}
  ORDER BY number DESC LIMIT ?`;

const NEWEST_SQL = `SELECT unknown_fields AS fields FROM submission
  WHERE endpoint_number = ? AND unknown_fields IS NOT NULL AND id >= ? ${NOT_BINNED_SQL} ORDER BY id DESC LIMIT ?`;

function* oftenOf(id: string, posts: readonly Readonly<Record<string, unknown>>[]): Steps<OftenSent> {
  const endpoint = yield* getEndpoint(id);
  const definition = yield* readSchema(endpoint);
  const counts = new Map<string, number>();
  const files = new Set<string>();
  for (const post of posts) {
    const names = new Set<string>();
    for (const [path, value] of Object.entries(post)) {
      // The field was added to the form since, so nobody needs to act.
      if (addFieldAt(definition, path, value) === "declared") continue;
      const name = path.replace(/(?:\.\d+)+$/, "");
      names.add(name);
      if (isFileName(value)) files.add(name);
    }
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const often = [...counts].filter(([name, count]) => count >= OFTEN && !files.has(name));
  const names = often.toSorted(([, one], [, other]) => other - one).map(([name]) => name);
  return {
    endpointId: id,
    endpointName: endpoint.name,
    names: names.slice(0, MAX_NAMES).map(shown),
    files: [...files].slice(0, MAX_NAMES).map(shown),
  };
}

function shown(name: string): string {
  return shorten(plainText(name), MAX_NAME_LENGTH);
}

/** Names the forms. The finding is sound, because strangers can cause it and the machine has no problem. */
export function* checkOftenSent(now: number): Steps<Finding> {
  const found = yield* listOftenSent(null, now);
  const lost = yield* listPageFaults("file_name", null, now);
  if (lost.length > 0) {
    const named = lost.map(
      ({ endpointId, endpointName, what }) =>
        `${plainText(endpointName)} (${endpointId}) in ${plainText(what)}`,
    );
    const message = `pages send only the names of files, so their posts are refused; their forms lack enctype="multipart/form-data": ${named.join("; ")}`;
    return sound("forms.inputs", message);
  }
  if (found.length === 0) return sound("forms.inputs", "no form is often sent what it has no field for");
  const named = found.map(({ endpointId, endpointName, names, files }) => {
    const parts = [
      ...(names.length > 0 ? [names.join(", ")] : []),
      ...(files.length > 0 ? [`only the names of files in ${files.join(", ")}`] : []),
    ];
    return `${plainText(endpointName)} (${endpointId}): ${parts.join("; ")}`;
  });
  return sound("forms.inputs", `forms are often sent what they have no field for: ${named.join("; ")}`);
}
