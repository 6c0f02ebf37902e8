import { isDeepStrictEqual } from "node:util";
import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { findSchema, getViewableEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { setSchema } from "../../endpoints/schema-operations.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { UnknownFields } from "../../schemas/compile-schema.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FieldDefinition } from "../../schemas/field-definition.ts";
import type { FileBounds } from "../../schemas/posted-file.ts";
import { type Answer, checkedForm, page, redirect } from "../answer.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import { changedNotice } from "../kit/changed-notice.ts";
import { NO_PROBLEMS, type Problems, problemSummary } from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import { Stopped } from "../perform.ts";
import type { Routes, Visit } from "../routes.ts";
import { checkDraft, draftOf, editDraft, problemsOf, readDraft, type SchemaDraft } from "./schema-draft.ts";
import { builder, enterButton } from "./schema-editor.ts";

const SECTION = "/fields";

/** What the page shows besides the endpoint. */
interface Edited {
  readonly draft: SchemaDraft;
  /** The schema's version when the form was opened. */
  readonly version: number;
  readonly problems: Problems;
  readonly action?: string;
  /** What somebody else changed while the form was open. */
  readonly changed?: readonly string[];
}

/** `/dashboard/endpoints/:id/fields`: the schema that posts are checked with. */
export function endpointFieldsPages(routes: Routes, parts: DashboardParts): void {
  routes.read("/endpoints/:id/fields", async ({ viewer, params }) => {
    const [endpoint, definition] = await parts.db.read(function* () {
      const found = yield* getViewableEndpoint(viewer, params["id"] ?? "");
      return [found, yield* readSchema(found)] as const;
    });
    const { schemaVersion: version } = endpoint;
    return show(endpoint, { draft: draftOf(definition), version, problems: NO_PROBLEMS }, 200);
  });

  routes.write("/endpoints/:id/fields", async (visit) => {
    const { viewer, params, form } = visit;
    const endpoint = await parts.db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));
    const action = form.get("action") ?? "save";
    const draft = readDraft(form);
    const version = Number(form.get("version"));
    if (action === "check") return checkedForm(problemsOf(draft));
    if (action !== "save") {
      const edited = editDraft(draft, action);
      return show(endpoint, { ...edited, version, action }, edited.problems.size === 0 ? 200 : 422);
    }
    const checked = checkDraft(draft);
    if (checked.definition === null)
      return show(endpoint, { draft, version, problems: checked.problems }, 422);
    return save(visit, checked.definition, { draft, version, problems: NO_PROBLEMS });
  });

  async function save(
    { viewer, params, perform }: Visit,
    schema: SchemaDefinition,
    edited: Edited,
  ): Promise<Answer> {
    const endpoint = params["id"] ?? "";
    const { lost_fields: lost = [] } = await perform(setSchema, { endpoint, schema }, function* () {
      const now = yield* getViewableEndpoint(viewer, endpoint);
      const current = yield* readSchema(now);
      if (now.schemaVersion !== edited.version) {
        const changed = yield* changedFields(now, edited.version, current);
        throw new Stopped(() => show(now, { ...edited, version: now.schemaVersion, changed }, 409));
      }
      if (isDeepStrictEqual(current, schema) && orderOf(current) === orderOf(schema))
        throw new Stopped(() => redirect(pathOf(now, SECTION), "nothing-changed"));
    });
    return redirect(
      `/dashboard/endpoints/${endpoint}${SECTION}`,
      lost.length > 0 ? "fields-lost" : "fields-saved",
    );
  }

  function show(endpoint: Endpoint, edited: Edited, status: number): Answer {
    const content = view(endpoint, edited, parts.config.files);
    return page(`${endpoint.name}: fields`, endpointFrame(endpoint, SECTION, content), status);
  }
}

/** In words, the fields that have changed since a version; all fields if that version is not kept any more. */
function* changedFields(
  endpoint: Endpoint,
  version: number,
  current: SchemaDefinition,
): Steps<readonly string[]> {
  const isKnown = Number.isSafeInteger(version) && version > 0 && version < endpoint.schemaVersion;
  const shown = (isKnown ? yield* findSchema(endpoint.id, version) : null) ?? {};
  const names = [...new Set([...Object.keys(current), ...Object.keys(shown)])];
  const lines = names.flatMap((name) => {
    if (!Object.hasOwn(current, name)) return [`“${name}” is removed`];
    if (!Object.hasOwn(shown, name)) return [`“${name}” is new`];
    return describeChange(name, current[name], shown[name]);
  });
  if (lines.length > 0) return lines;
  return [
    orderOf(current) === orderOf(shown)
      ? "the same fields are saved again"
      : "the fields stand in another order",
  ];
}

/** The parts of a field that the validator ignores. */
const WORDS = ["label", "description"] as const;

/** In words, what is different about a field of this name; nothing if it is the same. */
function describeChange(name: string, now?: FieldDefinition, before?: FieldDefinition): readonly string[] {
  if (isDeepStrictEqual(now, before)) return [];
  const words = WORDS.filter((word) => now?.[word] !== before?.[word]);
  const wordless = { label: "", description: "" };
  if (!isDeepStrictEqual({ ...now, ...wordless }, { ...before, ...wordless }))
    return [`“${name}” has other rules`];
  return [`“${name}” has another ${words.join(" and ")}`];
}

/**
 * The names of all fields in their order, including nested ones. Columns, pages and e-mails follow this order, which a comparison of
 * objects ignores.
 */
function orderOf(definition: SchemaDefinition): string {
  return JSON.stringify(Object.entries(definition).map(namesIn));
}

function namesIn([name, field]: readonly [string, FieldDefinition]): unknown {
  let inner: FieldDefinition | undefined = field;
  while (inner?.type === "array") inner = inner.items;
  return [name, inner?.type === "object" ? Object.entries(inner.properties ?? {}).map(namesIn) : null];
}

/** What happens to an input whose field was removed, as long as pages still have the input. */
const REMOVED: Readonly<Record<UnknownFields, string>> = {
  "set-aside": "What a page still sends for a field that you removed is set aside, and shown below the post.",
  drop: "What a page still sends for a field that you removed is left out.",
  keep: "What a page still sends for a field that you removed is kept, and not checked any more.",
  reject: "A post with an input whose field you removed is refused.",
};

function view(
  endpoint: Endpoint,
  { draft, version, problems, action = "", changed }: Edited,
  fileBounds: FileBounds,
): Html {
  const path = pathOf(endpoint, SECTION);
  return html`${problemSummary(problems)}${changed !== undefined && changedNotice(changed)}
    <form method="post" action="${path}" data-check data-unsaved>
      ${enterButton("save")}<input type="hidden" name="version" value="${version}" />
      ${builder(
        { draft, problems, path, action, preview: { language: endpoint.settings.language, fileBounds } },
        {
          below: html`<p class="muted">
            New fields take effect at once, so change the form on your site too: a post that does not follow them is refused.
            ${REMOVED[endpoint.settings.unknownFields]} Posts that came before stay as they are.
          </p>`,
        },
      )}
      <div class="savebar">
        <span class="muted">Nothing changes before you save.</span>
        <button class="primary" name="action" value="save">Save the fields</button>
      </div>
    </form>`;
}
