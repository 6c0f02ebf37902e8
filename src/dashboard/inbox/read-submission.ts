import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { getViewableEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { listFileIdsOf } from "../../files/file-store.ts";
import { listFilesOf } from "../../files/read-file.ts";
import { listMarks, type Mark } from "../../history/teach.ts";
import type { LeftOut } from "../../outbox/queue/choose-recipients.ts";
import type { Attempt, Delivery } from "../../outbox/queue/delivery.ts";
import { leadOf, listAttempts, listDeliveries } from "../../outbox/queue/delivery-store.ts";
import { hideNetwork } from "../../webhooks/hide-network.ts";
import type { Access } from "../../operations/access.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { Viewer } from "../../sessions/session.ts";
import { listAssigneesOf } from "../../submissions/manage/reach-assignees.ts";
import { findNotSent, getViewableSubmission } from "../../submissions/stored/submission-store.ts";
import { concealReasons } from "../../submissions/stored/conceal-reasons.ts";
import type { StoredSubmission } from "../../submissions/stored/submission-work.ts";
import { MAIL_KIND } from "../../mail/recipients/mail-recipient.ts";
import { MAIL_RECIPIENTS } from "../../mail/recipients/mail-recipient-store.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { findRecipientOf } from "../../recipients/recipient-type.ts";
import { WEBHOOKS } from "../../webhooks/webhook-store.ts";
import { WEBHOOK_KIND } from "../../webhooks/webhook.ts";
import type { Assignee } from "../../workspaces/assignee.ts";
import { findStanding, refusalOf } from "../../workspaces/standing.ts";
import { getViewableWorkspace, seesSeveralWorkspaces } from "../../workspaces/workspace-store.ts";
import type { DashboardParts } from "../parts.ts";

/** The largest number of a submission's messages that its page shows. */
const MAX_DELIVERIES = 20;
/** The largest number of recipients without a message that its page shows. */
const MAX_UNSENT = 50;
/** One message about the submission, with the name of its recipient and its attempts. */
export interface SentMessage {
  readonly delivery: Delivery;
  readonly recipient: string;
  /** The kind of the recipient. */
  readonly kind: string;
  readonly attempts: readonly Attempt[];
}

/** A recipient that got nothing because of a condition. */
export interface UnsentMessage {
  readonly leftOut: LeftOut;
  /** The recipient's name; null if it was deleted. */
  readonly recipient: string | null;
}

export interface WholeSubmission {
  readonly submission: StoredSubmission;
  readonly endpoint: Endpoint;
  /** Null for viewers who see only one workspace. */
  readonly workspaceName: string | null;
  readonly definition: SchemaDefinition;
  readonly mark: Mark | null;
  /** Null for viewers who may not see the recipients. */
  readonly messages: readonly SentMessage[] | null;
  /** Empty for viewers who may not see the recipients. */
  readonly unsent: readonly UnsentMessage[];
  /** What the viewer may do besides reading. */
  readonly may: {
    readonly change: boolean;
    readonly purge: boolean;
    readonly seeDetails: boolean;
    /** Whether they may send its messages again. */
    readonly replay: boolean;
    /** Whether they may add a field for a value that was set aside. */
    readonly addField: boolean;
  };
  /** The accounts that can be assigned. */
  readonly assignees: readonly Assignee[];
  /** The ids of its files that may be read. */
  readonly fileIds: ReadonlySet<string>;
  /** The ids of its other files whose bytes are stored. */
  readonly waitingIds: ReadonlySet<string>;
}

/** @throws not_found, with the same message for a submission that does not exist and for somebody else's */
export function readWhole({ db }: DashboardParts, viewer: Viewer, id: string): Promise<WholeSubmission> {
  return db.read(function* () {
    const found = yield* getViewableSubmission(viewer, id);
    const endpoint = yield* getViewableEndpoint(viewer, found.endpointId);
    const submission = (yield* concealReasons(viewer))(found);
    const standing = yield* findStanding(viewer, endpoint.workspaceId);
    const mayDo = (access: Access): boolean => standing !== null && refusalOf(standing, access) === null;
    const { deliveries } = yield* listDeliveries({
      kinds: null,
      recipientId: null,
      submissionId: id,
      state: null,
      cursor: null,
      limit: MAX_DELIVERIES,
    });
    const messages: SentMessage[] = [];
    for (const delivery of deliveries) {
      const named = yield* nameRecipient(delivery.recipientId);
      const attempts = (yield* listAttempts(leadOf(delivery))).map((attempt) =>
        hideNetwork(attempt, viewer.isOperator),
      );
      messages.push({ delivery, ...named, attempts });
    }
    messages.sort(byRecipient);
    const unsent: UnsentMessage[] = [];
    for (const leftOut of (yield* findNotSent(id)).slice(0, MAX_UNSENT))
      unsent.push({ leftOut, recipient: (yield* findName(leftOut.id))?.recipient ?? null });
    const mark = (yield* listMarks([id])).get(id) ?? null;
    const workspaceName = yield* nameForMany(viewer, endpoint.workspaceId);
    const fileIds = new Set((yield* listFilesOf(id)).map((file) => file.id));
    const waitingIds = new Set((yield* listFileIdsOf([id])).filter((each) => !fileIds.has(each)));
    const definition = yield* readSchema(endpoint);
    const shown = mayDo("recipients:read") ? messages : null;
    const may = {
      change: mayDo("submissions:write"),
      purge: mayDo("submissions:purge"),
      seeDetails: mayDo("spam:details"),
      replay: mayDo("recipients:write"),
      addField: mayDo("endpoints:write"),
    };
    const assignees = may.change ? yield* listAssigneesOf([submission.id], [endpoint.workspaceId]) : [];
    const people = { messages: shown, unsent: shown === null ? [] : unsent, assignees };
    return { submission, endpoint, workspaceName, definition, mark, may, fileIds, waitingIds, ...people };
  });
}

/** The name of a workspace for a viewer who sees several; else null. */
export function* nameForMany(viewer: Viewer, workspaceId: string): Steps<string | null> {
  if (!(yield* seesSeveralWorkspaces(viewer))) return null;
  return (yield* getViewableWorkspace(viewer, workspaceId)).name;
}

/**
 * Orders messages by recipient. The messages of a post have no order of their own, but each post should list its recipients in the same
 * order.
 */
function byRecipient(one: SentMessage, other: SentMessage): number {
  if (one.recipient === other.recipient) return 0;
  return one.recipient < other.recipient ? -1 : 1;
}

/** The name of a recipient: the host of a webhook, an address, or a text for the automatic reply. */
function* nameRecipient(id: string): Steps<Named> {
  return (yield* findName(id)) ?? { recipient: "Whoever wrote it: the automatic reply", kind: REPLY_KIND };
}

type Named = Pick<SentMessage, "recipient" | "kind">;

/** Null if the id belongs neither to a recipient of e-mail nor to a webhook. */
function* findName(id: string): Steps<Named | null> {
  const mail = yield* findRecipientOf(MAIL_RECIPIENTS, id);
  if (mail !== undefined) return { recipient: mail.settings.address, kind: MAIL_KIND };
  const webhook = yield* findRecipientOf(WEBHOOKS, id);
  if (webhook === undefined) return null;
  return { recipient: new URL(webhook.settings.url).host, kind: WEBHOOK_KIND };
}
