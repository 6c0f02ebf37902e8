import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { addMailRecipient } from "./mail-recipients.ts";
import { insertAutoReplyRows } from "../../src/mail/auto-reply/auto-reply-store.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { setConfirmed } from "../../src/outbox/queue/recipient-store.ts";
import { exampleSchema } from "./example-schema.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { insertPasskeyRow } from "../../src/sessions/passkey-store.ts";
import { makeMailedLink } from "../../src/sessions/mailed-link.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { addLoginRequest } from "../../src/tokens/login-store.ts";
import { insertTokenRow } from "../../src/tokens/token-store.ts";
import { DEFAULT_SCOPES, makeTokenText } from "../../src/tokens/token.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { storeInvitation } from "../../src/workspaces/invitation-store.ts";
import type { TestServer } from "./test-server.ts";
import { until } from "./until.ts";
import { type Visitor, visit } from "./visitor.ts";
import { makeEndpoint } from "./terminal.ts";

/** A person who owns one of everything that the dashboard shows. */
export interface OwnerHome {
  readonly visitor: Visitor;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly sessionId: string;
  /** A token of the API, which belongs to this account. */
  readonly tokenId: string;
  readonly passkeyId: string;
  readonly endpointId: string;
  readonly keyId: string;
  readonly publishable: string;
  readonly secret: string;
  readonly submissionIds: readonly string[];
  /** A file of the first submission. It has one byte. */
  readonly fileId: string;
  readonly heldId: string;
  readonly webhookId: string;
  /** A message about the first submission to the webhook. One attempt was made, and it failed. */
  readonly deliveryId: string;
  readonly mailRecipientId: string;
  /** An e-mail about the first submission. No more attempts are made. */
  readonly mailDeliveryId: string;
  /**
   * The automatic reply, which is on. A reply to the first submission failed, and no more attempts are made. Both ids are empty if the
   * schema has no field for an address.
   */
  readonly autoReplyId: string;
  readonly replyDeliveryId: string;
  /** The tokens of links in letters: one to a person who signs up, and one for a new password of this account. */
  readonly signUpToken: string;
  readonly resetToken: string;
  /** An invitation to this account's address. */
  readonly invitationId: string;
  /** The code of a command line that waits to be logged in. */
  readonly loginCode: string;
}

export interface Furniture {
  readonly schema?: SchemaDefinition;
  readonly endpointName?: string;
  /** The posts to store; one more post is held. */
  readonly posts?: readonly Record<string, unknown>[];
  /** The address of a receiver. If absent, it is an address at which nothing listens. */
  readonly receiverUrl?: string;
}

/** A post of a robot, which fills the input that no person sees. */
const TRAPPED = { _gotcha: "I fill everything" };

/** Signs in a person and gives them one of everything, by posts over HTTP and by the functions of the features. */
export async function furnish(server: TestServer, email: string, given: Furniture = {}): Promise<OwnerHome> {
  const { owner, clock, config } = server;
  const { schema = exampleSchema, endpointName = `Form of ${email}` } = given;
  const {
    posts = [{ name: `Friend of ${email}`, email: "friend@example.org", message: `Text for ${email}` }],
  } = given;
  const visitor = await visit(server, email);
  const now = clock.now();
  const workspaceId = theOne(server, "SELECT id FROM workspace WHERE account_id = ?", visitor.accountId);
  const made = { name: endpointName, definition: schema, settings: defaultEndpointSettings };
  const created = await makeEndpoint(owner, made, { workspace: workspaceId, plans: config.plans, now });
  const endpointId = created.endpoint.id;
  const url = given.receiverUrl ?? "http://127.0.0.1:9/hook";
  const { webhook } = owner.now(() =>
    insertWebhookRows(
      createKeyring(config.secrets),
      endpointId,
      { ...defaultWebhookSettings, url, allowPrivate: true },
      now,
    ),
  );
  const submissionIds: string[] = [];
  for (const post of posts) {
    const { status, json } = await server.post(created.secret.text, post);
    if (status !== 200) throw new Error(`the post was answered ${status}: ${JSON.stringify(json)}`);
    submissionIds.push(String(json["submission_id"]));
  }
  await server.post(created.secret.text, { ...posts[0], ...TRAPPED });
  await until(() =>
    owner.prepare("SELECT 1 FROM delivery WHERE recipient_id = ? AND attempts > 0").get(webhook.id),
  );
  const deliveryId = theOne(
    server,
    "SELECT id FROM delivery WHERE submission_id = ?",
    submissionIds[0] ?? "",
  );
  const mailRecipientId = addRecipient(server, endpointId, `team.${email}`);
  const autoReplyId = addAutoReply(server, endpointId, schema);
  return {
    visitor,
    accountId: visitor.accountId,
    workspaceId,
    endpointId,
    submissionIds,
    fileId: addFile(server, endpointId, submissionIds[0] ?? ""),
    webhookId: webhook.id,
    publishable: created.publishable.text,
    secret: created.secret.text,
    keyId: theOne(server, "SELECT id FROM api_key WHERE endpoint_id = ? AND kind = 'secret'", endpointId),
    tokenId: addToken(server, visitor.accountId),
    passkeyId: addPasskey(server, visitor.accountId),
    sessionId: theOne(server, "SELECT id FROM session WHERE account_id = ?", visitor.accountId),
    heldId: theOne(server, "SELECT id FROM held WHERE endpoint_id = ?", endpointId),
    signUpToken: owner.now(() => makeMailedLink("sign-up", `new.${email}`, now)),
    resetToken: owner.now(() => makeMailedLink("reset", email, now)),
    invitationId: addInvitation(server, workspaceId, email),
    loginCode: await addLogin(server),
    deliveryId,
    mailRecipientId,
    autoReplyId,
    replyDeliveryId: addGivenUp(server, autoReplyId, submissionIds[0] ?? ""),
    mailDeliveryId: addGivenUp(server, mailRecipientId, submissionIds[0] ?? ""),
  };
}

/** Makes a command line wait to be logged in. @returns the code that it shows */
export async function addLogin({ owner, clock }: TestServer): Promise<string> {
  const asked = { clientName: "ada on laptop", clientAddress: "203.0.113.9", scopes: DEFAULT_SCOPES };
  return (await owner.transaction(() => addLoginRequest(asked, clock.now()))).userCode;
}

/** Makes an invitation to a workspace. @returns its id */
export function addInvitation({ owner, clock }: TestServer, workspaceId: string, email: string): string {
  const making = { workspaceId, email, byAccountId: null, isByOperator: true, madeAt: clock.now() };
  const reader = { role: "reader", endpoints: null, mayExport: true, seesSpamDetails: true } as const;
  return owner.now(() => storeInvitation(making, reader));
}

/** Makes a token of the API. @returns its id */
export function addToken({ owner, clock }: TestServer, accountId: string): string {
  const bound = { accountId, workspaceId: null, endpointId: null, expiresAt: null };
  const made = { ...bound, name: "Copies posts to the calendar", scopes: DEFAULT_SCOPES };
  return owner.now(() => insertTokenRow(made, makeTokenText(), clock.now())).id;
}

export function addPasskey({ owner, clock }: TestServer, accountId: string): string {
  const [credentialId, host] = [accountId, "forms.example.com"];
  const made = { credentialId, host, publicKey: Buffer.alloc(77), counter: 0 };
  return owner.now(() => insertPasskeyRow(accountId, made, "Laptop", clock.now()));
}

export function addFile({ owner, clock }: TestServer, endpointId: string, submissionId: string): string {
  const id = newId("fil", clock.now());
  owner
    .prepare(`INSERT INTO file (id, endpoint_id, submission_id, state, name, size, type, sha256, created_at)
        VALUES (?, ?, ?, 'stored', 'cv.txt', 1, 'text/plain', '00', ?)`)
    .run(id, endpointId, submissionId, clock.now());
  owner.prepare("INSERT INTO file_chunk VALUES (?, 0, ?)").run(id, Buffer.from("a"));
  return id;
}

/** Makes a recipient whose holder agreed to get e-mail, and returns its id. */
function addRecipient({ owner, clock }: TestServer, endpointId: string, address: string): string {
  const settings = { ...defaultMailRecipientSettings, address };
  const made = { endpointId, settings, isConfirmed: true };
  return owner.now(() => addMailRecipient(made, clock.now())).id;
}

function addAutoReply({ owner, clock }: TestServer, endpointId: string, schema: SchemaDefinition): string {
  const { email } = schema;
  if (email?.type !== "string" || email.format !== "email") return "";
  const settings = { field: "email", subject: null, text: null, replyToId: null };
  return owner.now(function* () {
    const id = yield* insertAutoReplyRows(endpointId, settings, clock.now());
    yield* setConfirmed(id, clock.now());
    return id;
  });
}

/** Makes a message that was tried once and failed, and returns its id. */
function addGivenUp({ owner, clock }: TestServer, recipientId: string, submissionId: string): string {
  if (recipientId === "") return "";
  const now = clock.now();
  const id = newId("msg", now);
  owner
    .prepare(
      `INSERT INTO delivery (id, submission_id, recipient_id, state, attempts, due_at, finished_at)
       VALUES (?, ?, ?, 'failed', 1, ?, ?)`,
    )
    .run(id, submissionId, recipientId, now, now);
  owner
    .prepare(
      `INSERT INTO attempt (delivery_id, number, started_at, duration_ms, outcome, status, message, is_probe)
       VALUES (?, 1, ?, 12, 'recipient_refused', 550, 'The mail server refused the recipient: 550 <b>nobody</b>.', 0)`,
    )
    .run(id, now);
  return id;
}

function theOne({ owner }: TestServer, sql: string, parameter: string): string {
  return String(owner.prepare(`${sql} LIMIT 1`).pluck().get(parameter));
}
