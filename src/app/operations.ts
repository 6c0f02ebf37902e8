import { exportWorkspace } from "../archive/export-workspace.ts";
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
import { moveEndpoint } from "../endpoints/move-endpoint.ts";
import { issueKey, listEndpointKeys, revokeKey, rotateKey, showKey } from "../endpoints/key-operations.ts";
import { setSchema, showSchema } from "../endpoints/schema-operations.ts";
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
import { askRecipient, createRecipient } from "../mail/ask-recipient.ts";
import { acceptInvitation, declineInvitation, inviteMember } from "../members/invitation-operations.ts";
import {
  leaveWorkspace,
  listWorkspaceMembers,
  removeWorkspaceMember,
  setMember,
  showMember,
} from "../members/member-operations.ts";
import { transferWorkspace } from "../members/transfer-workspace.ts";
import { setReply, showReply, turnOffReply } from "../mail/auto-reply/auto-reply-operations.ts";
import { confirmRecipient, unsubscribeRecipient } from "../mail/follow-link.ts";
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
import { listWebhookDeliveries, replayWebhook, showWebhookDelivery } from "../webhooks/webhook-deliveries.ts";
import { testRecipient } from "../mail/test-recipient.ts";
import type { AnyOperation } from "../operations/operation.ts";
import { unbindAccount } from "../sessions/oidc-operations.ts";
import {
  endAccountSessions,
  endOwnSessions,
  giveSignInLink,
  listAccountSessions,
  resetTotp,
} from "../sessions/sign-in-operations.ts";
import { vouchForAccount } from "../sessions/vouch-operation.ts";
import { approveLogin, denyLogin } from "../tokens/login-operations.ts";
import {
  createToken,
  listAllTokens,
  revokeOwnToken,
  revokeToken,
  showOwnToken,
} from "../tokens/token-operations.ts";
import { noteCall } from "../tokens/agent-calls.ts";
import { listFindings } from "../doctor/finding-operations.ts";
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from "../sessions/passkey-operations.ts";
import { removeOwnTotp, renewOwnCodes, setOwnPassword, setOwnTotp } from "../sessions/security-operations.ts";
import { setSpam, showSpam } from "../endpoints/spam-operations.ts";
import { importSubmissions } from "../submissions/import/import-submissions.ts";
import { erasePersonRecords, findPersonRecords } from "../submissions/work/person-operations.ts";
import { explainScore, previewSpam, scorePost } from "../submissions/work/spam-operations.ts";
import { deleteFile, listAllFiles, saveFile, showFile } from "../submissions/files/file-operations.ts";
import { listEvents } from "../submissions/find/event-operations.ts";
import { importTable } from "../submissions/import/import-table.ts";
import { exportSubmissions } from "../submissions/export/export-submissions.ts";
import {
  dropAllHeld,
  dropHeld,
  listHeld,
  releaseHeld,
  showHeld,
} from "../submissions/held/held-operations.ts";
import {
  listSubmissions,
  markSubmissionsAs,
  markSubmissionsRead,
  showSubmission,
} from "../submissions/work/submission-operations.ts";
import { tailSubmissions } from "../submissions/find/tail-submissions.ts";
import {
  addNote,
  deleteSubmissions,
  emptyBin,
  setSubmissions,
  undeleteSubmissions,
} from "../submissions/work/work-operations.ts";
import { countAccountContents, deleteAccount } from "../workspaces/delete-account.ts";
import { countContents, deleteWorkspace } from "../workspaces/delete-workspace.ts";
import {
  createAccount,
  listAllAccounts,
  renameAccount,
  setAccount,
  showAccount,
} from "../workspaces/account-operations.ts";
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

/** Everything that can be done, for what is made from the list: the table of access, and the tests of it. */
export const OPERATIONS: readonly AnyOperation[] = [
  createEndpoint,
  listAllEndpoints,
  showEndpoint,
  setEndpoint,
  setChallengeSecret,
  allowOrigin,
  ignoreOrigin,
  pauseEndpoint,
  resumeEndpoint,
  moveEndpoint,
  deleteEndpoint,
  showSchema,
  setSchema,
  listEndpointKeys,
  showKey,
  issueKey,
  rotateKey,
  revokeKey,
  showReply,
  setReply,
  turnOffReply,
  listAllRecipients,
  showRecipient,
  createRecipient,
  askRecipient,
  testRecipient,
  setRecipient,
  enableRecipient,
  disableRecipient,
  deleteRecipient,
  confirmRecipient,
  unsubscribeRecipient,
  listMailDeliveries,
  showMailDelivery,
  replayMail,
  tryMailServer,
  tryRecipientNow,
  listWebhookDeliveries,
  showWebhookDelivery,
  replayWebhook,
  tryWebhook,
  listAllWebhooks,
  showWebhook,
  createWebhook,
  setWebhook,
  rotateSecret,
  enableWebhook,
  disableWebhook,
  deleteWebhook,
  testWebhook,
  listSubmissions,
  showSubmission,
  markSubmissionsAs,
  markSubmissionsRead,
  setSubmissions,
  addNote,
  deleteSubmissions,
  undeleteSubmissions,
  emptyBin,
  tailSubmissions,
  exportSubmissions,
  importTable,
  importSubmissions,
  findPersonRecords,
  erasePersonRecords,
  listAllFiles,
  showFile,
  saveFile,
  deleteFile,
  showSpam,
  setSpam,
  previewSpam,
  explainScore,
  scorePost,
  listHeld,
  showHeld,
  releaseHeld,
  dropHeld,
  dropAllHeld,
  createWorkspace,
  listAllWorkspaces,
  showWorkspace,
  setWorkspace,
  setWorkspacePlan,
  renameWorkspace,
  transferWorkspace,
  countAccountContents,
  countContents,
  deleteWorkspace,
  exportWorkspace,
  showUsage,
  listUsages,
  listWorkspaceMembers,
  showMember,
  setMember,
  removeWorkspaceMember,
  acceptInvitation,
  declineInvitation,
  inviteMember,
  leaveWorkspace,
  listEvents,
  approveLogin,
  denyLogin,
  createToken,
  listAllTokens,
  revokeToken,
  showOwnToken,
  revokeOwnToken,
  createAccount,
  listAllAccounts,
  showAccount,
  setAccount,
  renameAccount,
  deleteAccount,
  giveSignInLink,
  resetTotp,
  unbindAccount,
  vouchForAccount,
  listAccountSessions,
  endAccountSessions,
  endOwnSessions,
  setOwnPassword,
  setOwnTotp,
  renewOwnCodes,
  removeOwnTotp,
  beginPasskey,
  addPasskey,
  renamePasskey,
  removePasskey,
  listFindings,
  noteCall,
];
