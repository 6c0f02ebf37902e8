import { exportWorkspace } from "../archive/export-workspace.ts";
import { listFindings } from "../doctor/finding-operations.ts";
import { createEndpoint } from "../endpoints/create-endpoint.ts";
import { deleteEndpoint } from "../endpoints/delete-endpoint.ts";
import {
  allowOrigin,
  ignoreOrigin,
  listAllEndpoints,
  pauseEndpoint,
  resumeEndpoint,
  setChallengeSecret,
  setEndpoint,
  showEndpoint,
} from "../endpoints/endpoint-operations.ts";
import { issueKey, listEndpointKeys, revokeKey, rotateKey, showKey } from "../endpoints/key-operations.ts";
import { moveEndpoint } from "../endpoints/move-endpoint.ts";
import { setSchema, showSchema } from "../endpoints/schema-operations.ts";
import { setSpam, showSpam } from "../endpoints/spam-operations.ts";
import { askRecipient, createRecipient } from "../mail/recipients/ask-recipient.ts";
import { setReply, showReply, turnOffReply } from "../mail/auto-reply/auto-reply-operations.ts";
import { mailRecipientOperations, setRecipient } from "../mail/recipients/recipient-operations.ts";
import { listMailDeliveries, replayMail, showMailDelivery } from "../mail/mail-deliveries.ts";
import { tryMailServer } from "../mail/health/try-mail-server.ts";
import { testRecipient } from "../mail/recipients/test-recipient.ts";
import {
  listWorkspaceMembers,
  removeWorkspaceMember,
  setMember,
  showMember,
} from "../members/member-operations.ts";
import { inviteMember } from "../members/invitation-operations.ts";
import { transferWorkspace } from "../members/transfer-workspace.ts";
import type { Operation, StreamOperation } from "../operations/operation.ts";
import { endAccountSessions, listAccountSessions } from "../sessions/sign-in-operations.ts";
import { vouchForAccount } from "../sessions/vouch-operation.ts";
import { listEvents } from "../submissions/find/event-operations.ts";
import { deleteFile, listAllFiles, saveFile, showFile } from "../submissions/files/file-operations.ts";
import { exportSubmissions } from "../submissions/export/export-submissions.ts";
import {
  dropAllHeld,
  dropHeld,
  listHeld,
  releaseHeld,
  showHeld,
} from "../submissions/held/held-operations.ts";
import { importHeld } from "../submissions/import/import-held.ts";
import { importSubmissions } from "../submissions/import/import-submissions.ts";
import { importTable } from "../submissions/import/import-table.ts";
import {
  listSubmissions,
  markSubmissionsAs,
  markSubmissionsRead,
  showSubmission,
} from "../submissions/manage/submission-operations.ts";
import { erasePersonRecords, findPersonRecords } from "../submissions/manage/person-operations.ts";
import { explainScore, previewSpam, scorePost } from "../submissions/manage/spam-operations.ts";
import {
  addNote,
  deleteSubmissions,
  emptyBin,
  setSubmissions,
  undeleteSubmissions,
} from "../submissions/manage/work-operations.ts";
import { tailSubmissions } from "../submissions/find/tail-submissions.ts";
import { noteCall } from "../tokens/agent-calls.ts";
import { revokeOwnToken, showOwnToken } from "../tokens/token-operations.ts";
import {
  createAccount,
  listAllAccounts,
  renameAccount,
  setAccount,
  showAccount,
} from "../workspaces/account-operations.ts";
import { testWebhook } from "../webhooks/test-webhook.ts";
import {
  createWebhook,
  rotateSecret,
  setWebhook,
  webhookOperations,
} from "../webhooks/webhook-operations.ts";
import { listWebhookDeliveries, replayWebhook, showWebhookDelivery } from "../webhooks/webhook-deliveries.ts";
import { listUsages, showUsage } from "../workspaces/usage-operations.ts";
import { countAccountContents, deleteAccount } from "../workspaces/delete-account.ts";
import { countContents, deleteWorkspace } from "../workspaces/delete-workspace.ts";
import {
  createWorkspace,
  listAllWorkspaces,
  renameWorkspace,
  setWorkspace,
  setWorkspacePlan,
  showWorkspace,
} from "../workspaces/workspace-operations.ts";
import type { ApiParts } from "./parts.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type RoutedOperation = Operation<ApiParts> | StreamOperation<ApiParts>;

/**
 * An operation over HTTP. The names in its path are members of the operation's input. `GET` and `DELETE` take the other members from the
 * query, the other methods from the body.
 */
export interface ApiRoute {
  readonly operation: RoutedOperation;
  readonly method: Method;
  /** The path below `/api/v1`, like `/endpoints/:endpoint`. */
  readonly path: string;
  /** 201 for a new row; 204 has no body. */
  readonly status: 200 | 201 | 204;
  /** The operation that shows the row that the path names. A row has one `ETag`, whichever operation changes it. */
  readonly shownBy: Operation<ApiParts> | null;
  /** The operation that runs in its place with `dry_run=true`; null if it is the same one. */
  readonly dryRun: Operation<ApiParts> | null;
  /** Whether the body is a file, which the operation reads. The whole input is then in the address. */
  readonly takesFile: boolean;
}

type Further = Partial<Pick<ApiRoute, "shownBy" | "dryRun" | "takesFile">>;

const route =
  (method: Method, status: ApiRoute["status"]) =>
  (
    path: string,
    operation: RoutedOperation,
    { shownBy = null, dryRun = null, takesFile = false }: Further = {},
  ): ApiRoute => ({
    operation,
    method,
    path,
    status,
    shownBy,
    dryRun,
    takesFile,
  });

const read = route("GET", 200);
const make = route("POST", 201);
/** A route for an action that is not a field of a row. */
const act = route("POST", 200);
const replace = route("PUT", 200);
const change = route("PATCH", 200);
const remove = route("DELETE", 204);

/** The routes of a list: to read it, and to add a row. */
function list(
  path: string,
  listing: RoutedOperation,
  making: RoutedOperation,
  further?: Further,
): readonly ApiRoute[] {
  return [read(path, listing, further), make(path, making, further)];
}

/** The operations on a row: at its own address, and below it under the verb in the operation's name. */
interface RowOperations {
  readonly change?: RoutedOperation;
  readonly remove?: RoutedOperation;
  readonly acts?: readonly RoutedOperation[];
}

type RecipientOperations = Readonly<
  Record<"show" | "enable" | "disable" | "try" | "delete", Operation<ApiParts>>
>;

/** The routes of one row, which one operation shows. */
function row(
  path: string,
  show: Operation<ApiParts>,
  { change: changing, remove: removing, acts = [] }: RowOperations = {},
): readonly ApiRoute[] {
  const own = { shownBy: show };
  return [
    read(path, show, own),
    ...(changing === undefined ? [] : [change(path, changing, own)]),
    ...(removing === undefined ? [] : [remove(path, removing, own)]),
    ...acts.map((each) => act(`${path}/${verbOf(each)}`, each, own)),
  ];
}

/** The routes that a recipient of every kind has, and acts of its own kind. */
function recipient(
  path: string,
  { show, enable, disable, try: tryNow, delete: remove }: RecipientOperations,
  change: RoutedOperation,
  ownActs: readonly RoutedOperation[],
): readonly ApiRoute[] {
  return row(path, show, { change, remove, acts: [enable, disable, tryNow, ...ownActs] });
}

/** The verb of `endpoint.allow-origin` is `allow-origin`. */
function verbOf({ name }: RoutedOperation): string {
  return name.slice(name.indexOf(".") + 1);
}

const ofEndpoint = { shownBy: showEndpoint };
const ofSchema = { shownBy: showSchema };
const ofReply = { shownBy: showReply };
const ofWorkspace = { shownBy: showWorkspace };
const ofAccount = { shownBy: showAccount };

/** Every operation that programs can run, with its address. `all-operations.ts` has the others. */
export const ROUTES: readonly ApiRoute[] = [
  ...list("/endpoints", listAllEndpoints, createEndpoint),
  ...row("/endpoints/:endpoint", showEndpoint, {
    change: setEndpoint,
    remove: deleteEndpoint,
    acts: [moveEndpoint, pauseEndpoint, resumeEndpoint, allowOrigin, ignoreOrigin],
  }),
  replace("/endpoints/:endpoint/challenge-secret", setChallengeSecret, ofEndpoint),
  ...row("/endpoints/:endpoint/schema", showSchema),
  replace("/endpoints/:endpoint/schema", setSchema, ofSchema),
  ...list("/endpoints/:endpoint/keys", listEndpointKeys, issueKey, ofEndpoint),
  ...row("/keys/:key", showKey, { acts: [revokeKey] }),
  make("/keys/:key/rotate", rotateKey, { shownBy: showKey }),
  ...list("/webhooks", webhookOperations.list, createWebhook),
  ...recipient("/webhooks/:webhook", webhookOperations, setWebhook, [rotateSecret, testWebhook]),
  read("/webhook-deliveries", listWebhookDeliveries),
  ...row("/webhook-deliveries/:delivery", showWebhookDelivery),
  act("/webhook-deliveries/replay", replayWebhook),
  ...list("/recipients", mailRecipientOperations.list, createRecipient),
  ...recipient("/recipients/:recipient", mailRecipientOperations, setRecipient, [
    askRecipient,
    testRecipient,
  ]),
  read("/mail-deliveries", listMailDeliveries),
  ...row("/mail-deliveries/:delivery", showMailDelivery),
  act("/mail-deliveries/replay", replayMail),
  act("/mail-server/try", tryMailServer),
  ...row("/endpoints/:endpoint/autoreply", showReply, { remove: turnOffReply }),
  replace("/endpoints/:endpoint/autoreply", setReply, ofReply),
  read("/submissions", listSubmissions),
  read("/submissions/export", exportSubmissions),
  read("/submissions/tail", tailSubmissions),
  act("/submissions/import", importSubmissions, { takesFile: true }),
  act("/held/import", importHeld, { takesFile: true }),
  act("/endpoints/:endpoint/import", importTable, { ...ofEndpoint, takesFile: true }),
  ...row("/submissions/:submission", showSubmission),
  act("/submissions/mark", markSubmissionsAs),
  act("/submissions/mark-read", markSubmissionsRead),
  act("/submissions/set", setSubmissions),
  make("/submissions/:submission/notes", addNote, { shownBy: showSubmission }),
  act("/submissions/delete", deleteSubmissions),
  act("/submissions/undelete", undeleteSubmissions),
  act("/submissions/empty-bin", emptyBin),
  act("/submissions/find", findPersonRecords),
  act("/submissions/erase", erasePersonRecords),
  read("/files", listAllFiles),
  ...row("/files/:file", showFile, { remove: deleteFile }),
  read("/files/:file/content", saveFile, { shownBy: showFile }),
  read("/spam", showSpam),
  replace("/spam", setSpam, { dryRun: previewSpam }),
  act("/spam/preview", previewSpam),
  act("/spam/explain", explainScore),
  act("/spam/score", scorePost),
  read("/held", listHeld),
  read("/held/:held", showHeld),
  act("/held/:held/release", releaseHeld),
  act("/held/drop", dropHeld),
  act("/held/drop-all", dropAllHeld),
  ...list("/workspaces", listAllWorkspaces, createWorkspace),
  ...row("/workspaces/:workspace", showWorkspace, {
    change: renameWorkspace,
    remove: deleteWorkspace,
    acts: [transferWorkspace],
  }),
  read("/workspaces/:workspace/contents", countContents, ofWorkspace),
  read("/workspaces/:workspace/export", exportWorkspace, ofWorkspace),
  change("/workspaces/:workspace/settings", setWorkspace, ofWorkspace),
  replace("/workspaces/:workspace/plan", setWorkspacePlan, ofWorkspace),
  read("/workspaces/:workspace/usage", showUsage, ofWorkspace),
  ...list("/workspaces/:workspace/members", listWorkspaceMembers, inviteMember, ofWorkspace),
  ...row("/workspaces/:workspace/members/:email", showMember, {
    change: setMember,
    remove: removeWorkspaceMember,
  }),
  read("/usage", listUsages),
  ...list("/accounts", listAllAccounts, createAccount),
  ...row("/accounts/:account", showAccount, {
    change: setAccount,
    remove: deleteAccount,
    acts: [renameAccount, vouchForAccount, endAccountSessions],
  }),
  read("/accounts/:account/contents", countAccountContents, ofAccount),
  read("/accounts/:account/sessions", listAccountSessions, ofAccount),
  read("/findings", listFindings),
  read("/events", listEvents),
  act("/agent-calls", noteCall),
  read("/token", showOwnToken),
  remove("/token", revokeOwnToken),
];
