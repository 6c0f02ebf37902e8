import { deleteEndpoint } from "../endpoints/delete-endpoint.ts";
import { setSpam, showSpam } from "../endpoints/spam-operations.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { plainText } from "../foundation/plain-text.ts";
import { listHeld } from "../submissions/held/held-operations.ts";
import { listSubmissions } from "../submissions/manage/submission-operations.ts";
import { listAllAccounts } from "../workspaces/account-operations.ts";
import {
  createWorkspace,
  renameWorkspace,
  setWorkspace,
  setWorkspacePlan,
} from "../workspaces/workspace-operations.ts";
import { showUsage } from "../workspaces/usage-operations.ts";
import { type FormsChange, NOTHING_TO_SHOW, type Plan } from "./change.ts";
import { NO_WORKSPACE_SETTINGS, WORKSPACE_SETTINGS } from "../workspaces/workspace-json.ts";
import type { FileEndpoint, FileWorkspace, FormsFile } from "./forms-file.ts";
import { isChosen, planKnownEndpoint, planNewEndpoint, spamDifferences } from "./plan-endpoint.ts";
import { changeOf, deletionOf, differencesOf, valuesAfter } from "./plan-recipients.ts";
import {
  type ListedEndpoint,
  type PerformAnywhere,
  readEndpoint,
  readEndpoints,
  readWorkspaces,
  type ShownWorkspace,
} from "./read-current.ts";

export interface Pruning {
  /** Whether to delete what the named workspaces have and the file does not name, except endpoints with posts. */
  readonly prunes: boolean;
  /** Endpoints that are deleted with their posts, each named by its id, its name if only one has it, or WORKSPACE/NAME. */
  readonly withPosts: readonly string[];
}

/** A workspace of the file. Its id is null until the workspace is made, unless it exists already. */
interface WorkspaceCell {
  readonly name: string;
  id: string | null;
}

/** Lists of changes, in the order in which they run. */
interface Phases {
  readonly workspaces: FormsChange[];
  readonly endpoints: FormsChange[];
  readonly deletions: FormsChange[];
  readonly kept: string[];
  readonly notes: string[];
  /** What each name of `withPosts` names: the endpoints that are deleted with their posts. */
  readonly withPosts: ReadonlyMap<string, string[]>;
}

/**
 * Compares the file with the database and changes nothing.
 *
 * @throws usage, ambiguous, forbidden for a change that could not be made, as far as that is known beforehand
 */
export async function planFile(perform: PerformAnywhere, file: FormsFile, pruning: Pruning): Promise<Plan> {
  const withPosts = new Map(pruning.withPosts.map((each): [string, string[]] => [each, []]));
  const phases: Phases = { workspaces: [], endpoints: [], deletions: [], kept: [], notes: [], withPosts };
  const known = await readWorkspaces(perform);
  const spare = await findSpareWorkspace(perform, file, known);
  const made = file.workspaces.filter(({ name }) => !known.has(name));
  let isFirst = made.length > 0 && spare === null && (await isWithoutAccounts(perform, made[0]));
  for (const wanted of file.workspaces) {
    const found = known.get(wanted.name) ?? null;
    if (found !== null) {
      await planKnownWorkspace(perform, { wanted, current: found, pruning, phases });
      continue;
    }
    const isSpare = spare !== null && phases.workspaces.length === 0;
    planNewWorkspace(wanted, phases, isSpare ? spare : isFirst ? "first" : null);
    isFirst = false;
  }
  phases.notes.push(...notesOfNames(withPosts));
  const { workspaces, endpoints, deletions, kept, notes } = phases;
  return { changes: [...workspaces, ...endpoints, ...(pruning.prunes ? deletions : [])], kept, notes };
}

/** The name of the workspace that an empty database gets with its first account. */
const FIRST_NAME = "owner";

/**
 * The only workspace, if it came with an empty database and nothing was done with it. It becomes the first workspace of the file, as it
 * does if the database is still empty.
 */
async function findSpareWorkspace(
  perform: PerformAnywhere,
  file: FormsFile,
  known: ReadonlyMap<string, ShownWorkspace>,
): Promise<ShownWorkspace | null> {
  const [only] = known.values();
  if (only === undefined || known.size > 1 || only.name !== FIRST_NAME) return null;
  if (file.workspaces.some(({ name }) => name === FIRST_NAME)) return null;
  return (await readEndpoints(perform, only.id)).size === 0 ? only : null;
}

/** Whether the database has no accounts. @throws ambiguous if the workspace would have to be made for one of several accounts */
async function isWithoutAccounts(
  perform: PerformAnywhere,
  made: FileWorkspace | undefined,
): Promise<boolean> {
  const { data: accounts } = await perform(listAllAccounts, {});
  if (accounts.length < 2) return accounts.length === 0;
  throw new FormsvcError(
    "ambiguous",
    `the workspace ${plainText(made?.name ?? "")} is not there, and there are several accounts: make it for one of them first`,
    { hint: { kind: "choose_account" } },
  );
}

/** @param from the workspace that is renamed; "first" makes the first account too; null makes a new workspace */
function planNewWorkspace(
  wanted: FileWorkspace,
  phases: Phases,
  from: ShownWorkspace | "first" | null,
): void {
  const { name, plan } = wanted;
  const cell: WorkspaceCell = { name, id: null };
  phases.workspaces.push({
    verb: from === null || from === "first" ? "create" : "change",
    kind: "workspace",
    name,
    differences: [
      ...(from === null || from === "first" ? [] : [{ member: "name", from: from.name, to: name }]),
      ...(plan === undefined ? [] : [{ member: "plan", to: plan }]),
      ...settingsDifferences(NO_WORKSPACE_SETTINGS, wanted).map(({ member, to }) => ({ member, to })),
    ],
    makesSecret: false,
    async run(perform) {
      const made = await makeWorkspace(perform, name, from);
      cell.id = made.id;
      if (plan !== undefined && plan !== made.plan)
        await perform(setWorkspacePlan, { workspace: made.id, plan });
      const settings = settingsDifferences(made, wanted);
      if (settings.length > 0) await perform(setWorkspace, { workspace: made.id, ...valuesAfter(settings) });
      return NOTHING_TO_SHOW;
    },
  });
  if (isChosen(wanted.spam)) phases.workspaces.push(spamChange(cell, {}, wanted.spam));
  for (const endpoint of wanted.endpoints) addNewEndpoint(endpoint, cell, phases);
}

function settingsDifferences(known: Partial<ShownWorkspace>, wanted: FileWorkspace) {
  return differencesOf(wanted, known, WORKSPACE_SETTINGS);
}

async function makeWorkspace(
  perform: PerformAnywhere,
  name: string,
  from: ShownWorkspace | "first" | null,
): Promise<ShownWorkspace> {
  if (from === null) return (await perform(createWorkspace, { name, only_new: true })).workspace;
  const id = from === "first" ? (await perform(showUsage, { workspace: null })).workspace_id : from.id;
  return (await perform(renameWorkspace, { workspace: id, name })).workspace;
}

function addNewEndpoint(wanted: FileEndpoint, workspace: WorkspaceCell, { endpoints }: Phases): void {
  const cell = { workspace: workspace.name, name: wanted.name, id: null };
  endpoints.push(...planNewEndpoint(wanted, cell, () => idOf(workspace)).changes);
}

interface KnownWorkspace {
  readonly wanted: FileWorkspace;
  readonly current: ShownWorkspace;
  readonly pruning: Pruning;
  readonly phases: Phases;
}

async function planKnownWorkspace(perform: PerformAnywhere, known: KnownWorkspace): Promise<void> {
  const { wanted, current, phases } = known;
  const { name, plan, spam } = wanted;
  const cell: WorkspaceCell = { name, id: current.id };
  if (plan !== undefined && plan !== current.plan)
    phases.workspaces.push(
      changeOf("workspace", name, [{ member: "plan", from: current.plan, to: plan }], async (run) => {
        await run(setWorkspacePlan, { workspace: current.id, plan });
      }),
    );
  const settings = settingsDifferences(current, wanted);
  if (settings.length > 0)
    phases.workspaces.push(
      changeOf("workspace", name, settings, async (run) => {
        await run(setWorkspace, { workspace: current.id, ...valuesAfter(settings) });
      }),
    );
  if (spam !== undefined) {
    const { chosen } = await perform(showSpam, { workspace: current.id });
    if (spamDifferences(chosen, spam).length > 0) phases.workspaces.push(spamChange(cell, chosen, spam));
  }
  const endpoints = new Map(await readEndpoints(perform, current.id));
  for (const endpoint of wanted.endpoints) {
    const found = takeEndpoint(endpoints, endpoint, name);
    if (found === null) addNewEndpoint(endpoint, cell, phases);
    else await addKnownEndpoint(perform, endpoint, found.id, known);
  }
  for (const other of endpoints.values()) await addUnnamed(perform, other, known);
}

/** Removes the endpoint with this name, or with its former name, from the existing ones and returns it; null if there is none. */
function takeEndpoint(
  endpoints: Map<string, ListedEndpoint>,
  { name, was }: FileEndpoint,
  workspace: string,
): ListedEndpoint | null {
  const found = endpoints.get(name);
  const before = was === undefined ? undefined : endpoints.get(was);
  if (found !== undefined && before !== undefined)
    throw new FormsvcError(
      "usage",
      `${plainText(workspace)} has both ${plainText(name)} and ${plainText(before.name)}, which it was: delete one, or leave "was" out`,
    );
  const taken = found ?? before ?? null;
  if (taken !== null) endpoints.delete(taken.name);
  return taken;
}

async function addKnownEndpoint(
  perform: PerformAnywhere,
  wanted: FileEndpoint,
  id: string,
  { wanted: { name: workspace }, pruning, phases }: KnownWorkspace,
): Promise<void> {
  const cell = { workspace, name: wanted.name, id };
  const { changes, deletions, kept, lost } = planKnownEndpoint(wanted, await readEndpoint(perform, id), cell);
  phases.endpoints.push(...changes);
  phases.deletions.push(...deletions);
  if (pruning.prunes) phases.kept.push(...kept);
  const left = lost.filter(({ isDeleted }) => !(pruning.prunes && isDeleted));
  phases.notes.push(...left.map(({ note }) => note));
}

/** Plans what happens to an endpoint that the file does not name. */
async function addUnnamed(
  perform: PerformAnywhere,
  { id, name }: ListedEndpoint,
  { wanted, pruning, phases }: KnownWorkspace,
): Promise<void> {
  if (!pruning.prunes) return;
  const shown = `${wanted.name}/${name}`;
  const names = [...new Set([id, name, shown])].filter((each) => phases.withPosts.has(each));
  for (const each of names) phases.withPosts.get(each)?.push(`${shown} (${id})`);
  const isNamed = names.length > 0;
  if (!isNamed && (await hasPosts(perform, id))) {
    phases.kept.push(`endpoint ${shown}: it has submissions or held posts`);
    return;
  }
  const differences = isNamed ? [{ member: "submissions", from: "all that it has", to: null }] : [];
  const deletion = deletionOf("endpoint", shown, async (run) => {
    await run(deleteEndpoint, { endpoint: id, only_empty: !isNamed });
  });
  phases.deletions.push({ ...deletion, differences });
}

async function hasPosts(perform: PerformAnywhere, endpoint: string): Promise<boolean> {
  const { data: submissions } = await perform(listSubmissions, { endpoint, limit: 1 });
  return submissions.length > 0 || (await perform(listHeld, { endpoint, limit: 1 })).data.length > 0;
}

/** Notes each name that names nothing. @throws ambiguous for one that names several endpoints, because their posts do not come back */
function notesOfNames(withPosts: Phases["withPosts"]): string[] {
  for (const [name, found] of withPosts)
    if (found.length > 1)
      throw new FormsvcError(
        "ambiguous",
        `several endpoints are named ${plainText(name)}: ${plainText(found.join(", "))}; nothing was changed`,
      );
  const missing = [...withPosts].filter(([, found]) => found.length === 0);
  return missing.map(([name]) => `there is no endpoint ${plainText(name)} to delete`);
}

function spamChange(
  cell: WorkspaceCell,
  from: object,
  choices: NonNullable<FileWorkspace["spam"]>,
): FormsChange {
  return changeOf("spam", cell.name, spamDifferences(from, choices), async (perform) => {
    await perform(setSpam, { workspace: idOf(cell), choices, replace: true });
  });
}

function idOf({ id, name }: WorkspaceCell): string {
  if (id === null) throw new Error(`the workspace ${name} has no id yet`);
  return id;
}
