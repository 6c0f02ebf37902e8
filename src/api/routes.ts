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
import { askRecipient, createRecipient } from "../mail/ask-recipient.ts";
import { setReply, showReply, turnOffReply } from "../mail/auto-reply/auto-reply-operations.ts";
import {
  deleteRecipient,
  disableRecipient,
  enableRecipient,
  listAllRecipients,
  setRecipient,
  showRecipient,
  tryRecipientNow,
} from "../mail/recipient-operations.ts";
import { listMailDeliveries, replayMail, showMailDelivery } from "../mail/mail-deliveries.ts";
import { tryMailServer } from "../mail/try-mail-server.ts";
import { testRecipient } from "../mail/test-recipient.ts";
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
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  listAllWebhooks,
  rotateSecret,
  setWebhook,
  showWebhook,
  tryWebhook,
} from "../webhooks/webhook-operations.ts";
import { listWebhookDeliveries, replayWebhook, showWebhookDelivery } from "../webhooks/webhook-deliveries.ts";
import { countAccountContents, deleteAccount } from "../workspaces/delete-account.ts";
import { countContents, deleteWorkspace } from "../workspaces/delete-workspace.ts";
import {
  createWorkspace,
  listAllWorkspaces,
  listUsages,
  renameWorkspace,
  setWorkspace,
  setWorkspacePlan,
  showUsage,
  showWorkspace,
} from "../workspaces/workspace-operations.ts";
import type { ApiParts } from "./parts.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type RoutedOperation = Operation<ApiParts> | StreamOperation<ApiParts>;

/**
 * One operation over HTTP. The names in its path are members of the operation's input; of the others, `GET` and `DELETE` take theirs from
 * the query, and the rest from the body.
 */
export interface ApiRoute {
  readonly operation: RoutedOperation;
  readonly method: Method;
  /** Below `/api/v1`, like `/endpoints/:endpoint`. */
  readonly path: string;
  /** 201 for what is made; 204 answers nothing. */
  readonly status: 200 | 201 | 204;
  /** The operation that shows what the path names: a row has one `ETag`, whatever is done with it. */
  readonly shownBy: Operation<ApiParts> | null;
  /** The operation that takes its place with `dry_run=true`, if it is another one. */
  readonly dryRun: Operation<ApiParts> | null;
  /** Whether its body is a file, which the operation reads; then the whole input stands in the address. */
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
/** What is no field of a row. */
const act = route("POST", 200);
const replace = route("PUT", 200);
const change = route("PATCH", 200);
const remove = route("DELETE", 204);

const ofEndpoint = { shownBy: showEndpoint };
const ofSchema = { shownBy: showSchema };
const ofKey = { shownBy: showKey };
const ofWebhook = { shownBy: showWebhook };
const ofRecipient = { shownBy: showRecipient };
const ofReply = { shownBy: showReply };
const ofFile = { shownBy: showFile };
const ofWorkspace = { shownBy: showWorkspace };
const ofMember = { shownBy: showMember };
const ofAccount = { shownBy: showAccount };

/** Every operation that programs can do, with its address; `all-operations.ts` has the others. */
export const ROUTES: readonly ApiRoute[] = [
  read("/endpoints", listAllEndpoints),
  make("/endpoints", createEndpoint),
  read("/endpoints/:endpoint", showEndpoint, ofEndpoint),
  change("/endpoints/:endpoint", setEndpoint, ofEndpoint),
  replace("/endpoints/:endpoint/challenge-secret", setChallengeSecret, ofEndpoint),
  remove("/endpoints/:endpoint", deleteEndpoint, ofEndpoint),
  act("/endpoints/:endpoint/move", moveEndpoint, ofEndpoint),
  act("/endpoints/:endpoint/pause", pauseEndpoint, ofEndpoint),
  act("/endpoints/:endpoint/resume", resumeEndpoint, ofEndpoint),
  act("/endpoints/:endpoint/allow-origin", allowOrigin, ofEndpoint),
  act("/endpoints/:endpoint/ignore-origin", ignoreOrigin, ofEndpoint),
  read("/endpoints/:endpoint/schema", showSchema, ofSchema),
  replace("/endpoints/:endpoint/schema", setSchema, ofSchema),
  read("/endpoints/:endpoint/keys", listEndpointKeys, ofEndpoint),
  make("/endpoints/:endpoint/keys", issueKey, ofEndpoint),
  read("/keys/:key", showKey, ofKey),
  make("/keys/:key/rotate", rotateKey, ofKey),
  act("/keys/:key/revoke", revokeKey, ofKey),
  read("/webhooks", listAllWebhooks),
  make("/webhooks", createWebhook),
  read("/webhooks/:webhook", showWebhook, ofWebhook),
  change("/webhooks/:webhook", setWebhook, ofWebhook),
  remove("/webhooks/:webhook", deleteWebhook, ofWebhook),
  act("/webhooks/:webhook/enable", enableWebhook, ofWebhook),
  act("/webhooks/:webhook/disable", disableWebhook, ofWebhook),
  act("/webhooks/:webhook/rotate-secret", rotateSecret, ofWebhook),
  act("/webhooks/:webhook/test", testWebhook, ofWebhook),
  act("/webhooks/:webhook/try", tryWebhook, ofWebhook),
  read("/webhook-deliveries", listWebhookDeliveries),
  read("/webhook-deliveries/:delivery", showWebhookDelivery, { shownBy: showWebhookDelivery }),
  act("/webhook-deliveries/replay", replayWebhook),
  read("/recipients", listAllRecipients),
  make("/recipients", createRecipient),
  read("/recipients/:recipient", showRecipient, ofRecipient),
  change("/recipients/:recipient", setRecipient, ofRecipient),
  remove("/recipients/:recipient", deleteRecipient, ofRecipient),
  act("/recipients/:recipient/ask", askRecipient, ofRecipient),
  act("/recipients/:recipient/enable", enableRecipient, ofRecipient),
  act("/recipients/:recipient/disable", disableRecipient, ofRecipient),
  act("/recipients/:recipient/test", testRecipient, ofRecipient),
  act("/recipients/:recipient/try", tryRecipientNow, ofRecipient),
  read("/mail-deliveries", listMailDeliveries),
  read("/mail-deliveries/:delivery", showMailDelivery, { shownBy: showMailDelivery }),
  act("/mail-deliveries/replay", replayMail),
  act("/mail-server/try", tryMailServer),
  read("/endpoints/:endpoint/autoreply", showReply, ofReply),
  replace("/endpoints/:endpoint/autoreply", setReply, ofReply),
  remove("/endpoints/:endpoint/autoreply", turnOffReply, ofReply),
  read("/submissions", listSubmissions),
  read("/submissions/export", exportSubmissions),
  read("/submissions/tail", tailSubmissions),
  act("/submissions/import", importSubmissions, { takesFile: true }),
  act("/held/import", importHeld, { takesFile: true }),
  act("/endpoints/:endpoint/import", importTable, { ...ofEndpoint, takesFile: true }),
  read("/submissions/:submission", showSubmission, { shownBy: showSubmission }),
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
  read("/files/:file", showFile, ofFile),
  read("/files/:file/content", saveFile, ofFile),
  remove("/files/:file", deleteFile, ofFile),
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
  read("/workspaces", listAllWorkspaces),
  make("/workspaces", createWorkspace),
  read("/workspaces/:workspace", showWorkspace, ofWorkspace),
  change("/workspaces/:workspace", renameWorkspace, ofWorkspace),
  remove("/workspaces/:workspace", deleteWorkspace, ofWorkspace),
  act("/workspaces/:workspace/transfer", transferWorkspace, ofWorkspace),
  read("/workspaces/:workspace/contents", countContents, ofWorkspace),
  read("/workspaces/:workspace/export", exportWorkspace, ofWorkspace),
  change("/workspaces/:workspace/settings", setWorkspace, ofWorkspace),
  replace("/workspaces/:workspace/plan", setWorkspacePlan, ofWorkspace),
  read("/workspaces/:workspace/usage", showUsage, ofWorkspace),
  read("/workspaces/:workspace/members", listWorkspaceMembers, ofWorkspace),
  make("/workspaces/:workspace/members", inviteMember, ofWorkspace),
  read("/workspaces/:workspace/members/:email", showMember, ofMember),
  change("/workspaces/:workspace/members/:email", setMember, ofMember),
  remove("/workspaces/:workspace/members/:email", removeWorkspaceMember, ofMember),
  read("/usage", listUsages),
  read("/accounts", listAllAccounts),
  make("/accounts", createAccount),
  read("/accounts/:account", showAccount, ofAccount),
  read("/accounts/:account/contents", countAccountContents, ofAccount),
  change("/accounts/:account", setAccount, ofAccount),
  remove("/accounts/:account", deleteAccount, ofAccount),
  act("/accounts/:account/rename", renameAccount, ofAccount),
  act("/accounts/:account/vouch", vouchForAccount, ofAccount),
  read("/accounts/:account/sessions", listAccountSessions, ofAccount),
  act("/accounts/:account/end-sessions", endAccountSessions, ofAccount),
  read("/findings", listFindings),
  read("/events", listEvents),
  act("/agent-calls", noteCall),
  read("/token", showOwnToken),
  remove("/token", revokeOwnToken),
];
