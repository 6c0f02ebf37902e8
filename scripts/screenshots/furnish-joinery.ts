import { type Change, recordChange } from "../../src/audit/audit-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { markOriginRow } from "../../src/endpoints/refused-origins.ts";
import { newId } from "../../src/foundation/id.ts";
import { addMailRecipient } from "../../test/support/mail-recipients.ts";
import { insertAutoReplyRows, noteReplyBegun } from "../../src/mail/auto-reply/auto-reply-store.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { setConfirmed } from "../../src/outbox/queue/recipient-store.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { insertReadRows } from "../../src/submissions/stored/read-marks.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import {
  addInvitation,
  addLogin,
  addPasskey,
  addToken,
  type OwnerHome,
} from "../../test/support/owner-home.ts";
import type { TestServer } from "../../test/support/test-server.ts";
import { until } from "../../test/support/until.ts";
import { visit, type Visitor } from "../../test/support/visitor.ts";
import { startWebSite, type WebSite } from "../../test/support/web-site.ts";
import { FORMS, type InventedPost, POSTS } from "./joinery.ts";
import { makeEndpoint } from "../../test/support/terminal.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const OWNER = "ada@joinery.example";
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
/** The number of submissions that nobody has read yet. */
const UNREAD = 4;

/** Fills a server with a month of an invented workshop, by posts over HTTP. */
export async function furnishJoinery(server: TestServer): Promise<OwnerHome> {
  const { owner, clock } = server;
  const end = clock.now();
  clock.set(end - 31 * 24 * HOUR_MS);
  const before = await visit(server, OWNER);
  const one = (sql: string, ...parameters: string[]): string =>
    String(
      owner
        .prepare(`${sql} LIMIT 1`)
        .pluck()
        .get(...parameters),
    );
  const workspaceId = one("SELECT id FROM workspace WHERE account_id = ?", before.accountId);
  const forms = await addForms(server, workspaceId);
  owner.prepare("UPDATE workspace SET name = 'Joinery'").run();
  recordChanges(server, before, forms.Contact.id, workspaceId);
  const receiver = await startWebSite();
  const failing = addWebhooks(server, { contact: forms.Contact.id, shop: forms.Shop.id }, receiver);
  const submissionIds: string[] = [];
  for (const [index, { form, hoursAgo, data }] of POSTS.entries()) {
    clock.set(end - hoursAgo * HOUR_MS);
    const { json } = await server.post(forms[form].publishable, data, {
      "user-agent": BROWSER,
      "accept-language": "en-GB,en;q=0.8",
      origin: "https://www.joinery.example",
      "x-forwarded-for": `203.0.113.${(index * 37) % 250}`,
    });
    if (typeof json["submission_id"] === "string") submissionIds.push(json["submission_id"]);
    await settled(server);
  }
  await receiver.stop();
  await addRefusedSites(server, forms.Shop);
  nameReceivers(server, end);
  owner.now(() => insertReadRows(before.accountId, submissionIds.slice(0, -UNREAD)));
  clock.set(end);
  const mailed = addMail(server, forms.Contact.id);
  const visitor = await visit(server, OWNER);
  const quote = one("SELECT id FROM submission WHERE data LIKE '%Peter Novak%'");
  return {
    visitor,
    accountId: visitor.accountId,
    workspaceId,
    invitationId: addInvitation(server, workspaceId, "lars@joinery.example"),
    passkeyId: addPasskey(server, visitor.accountId),
    tokenId: addUsedToken(server, visitor, { contact: forms.Contact.id, workspaceId }),
    sessionId: one("SELECT id FROM session WHERE account_id = ? ORDER BY id DESC", visitor.accountId),
    endpointId: forms.Shop.id,
    keyId: forms.Shop.keyId,
    publishable: forms.Shop.publishable,
    secret: forms.Shop.secret,
    submissionIds: [quote],
    fileId: "",
    heldId: one("SELECT id FROM held ORDER BY id DESC"),
    webhookId: failing,
    deliveryId: one("SELECT id FROM delivery WHERE recipient_id = ?", failing),
    ...mailed,
    ...addReply(server, forms.Shop.id),
    // No picture shows a page that only a letter leads to.
    signUpToken: "",
    resetToken: "",
    loginCode: await addLogin(server),
  };
}

/** Adds a token of a program, and a change that the program made to a form. */
function addUsedToken(
  server: TestServer,
  { accountId }: Visitor,
  { contact, workspaceId }: { readonly contact: string; readonly workspaceId: string },
): string {
  const tokenId = addToken(server, accountId);
  const doer = { tokenId, tokenName: "Copies posts to the calendar", account: { accountId, email: OWNER } };
  const change: Change = { action: "endpoint.set", subject: contact, workspaceId, detail: "keep_days" };
  server.owner.now(() => recordChange(doer, change, server.clock.now() - HOUR_MS));
  return tokenId;
}

/** Adds refused posts from two sites: one that nobody has marked, and one that was marked as not belonging to the workshop. */
async function addRefusedSites(server: TestServer, { id, publishable }: InventedForm): Promise<void> {
  const { owner } = server;
  const sites = ["https://preview.joinery.example", "https://copy-of-joinery.example"];
  for (const origin of sites) {
    const data = { name: "Vera Lund", email: "vera@example.org", message: "A shelf of 80 cm, please." };
    await server.post(publishable, data, { origin, "user-agent": BROWSER });
  }
  const counted = owner.prepare("SELECT count(*) FROM refused_origin").pluck();
  await until(() => counted.get() === sites.length);
  owner.now(() => markOriginRow(id, sites[1] ?? "", true));
}

interface InventedForm {
  readonly id: string;
  readonly secret: string;
  readonly publishable: string;
  readonly keyId: string;
}

async function addForms(
  { owner, clock, config }: TestServer,
  workspaceId: string,
): Promise<Record<InventedPost["form"], InventedForm>> {
  const forms = {} as Record<InventedPost["form"], InventedForm>;
  for (const [name, definition] of Object.entries(FORMS)) {
    const settings = { ...defaultEndpointSettings, allowedOrigins: ["https://www.joinery.example"] };
    const made = await makeEndpoint(
      owner,
      { name, definition, settings },
      { workspace: workspaceId, plans: config.plans, now: clock.now() },
    );
    forms[name as InventedPost["form"]] = {
      id: made.endpoint.id,
      secret: made.secret.text,
      publishable: made.publishable.text,
      keyId: made.publishable.key.id,
    };
  }
  return forms;
}

/** Records the changes that the list of changes shows. */
function recordChanges(
  { owner, clock }: TestServer,
  by: Visitor,
  endpointId: string,
  workspaceId: string,
): void {
  const actor = { accountId: by.accountId, email: OWNER };
  const about = (action: Change["action"], detail: string): Change => ({
    action,
    subject: endpointId,
    workspaceId,
    detail,
  });
  owner.now(function* () {
    yield* recordChange(null, { ...about("account.create", ""), subject: OWNER, detail: null }, clock.now());
    yield* recordChange(actor, about("endpoint.create", "Contact"), clock.now());
    yield* recordChange(actor, about("endpoint.set", "Contact"), clock.now());
    yield* recordChange(actor, about("webhook.create", "hooks.example.com"), clock.now());
  });
}

/** Adds one webhook that works, and one that has answered 502 since yesterday. Returns the id of the second. */
function addWebhooks(
  { owner, clock, config }: TestServer,
  { contact, shop }: { contact: string; shop: string },
  receiver: WebSite,
): string {
  const end = clock.now() + 31 * 24 * HOUR_MS;
  const keyring = createKeyring(config.secrets);
  const works = receiver.answer("/works", (_request, response) => response.writeHead(204).end());
  const fails = receiver.answer("/fails", (_request, response) => {
    const isDown = clock.now() > end - 4 * HOUR_MS;
    response
      .writeHead(isDown ? 502 : 200)
      .end(isDown ? "Bad gateway: the application does not answer" : "ok");
  });
  const add = (endpointId: string, url: string): string =>
    owner.now(() =>
      insertWebhookRows(
        keyring,
        endpointId,
        { ...defaultWebhookSettings, url, allowPrivate: true },
        clock.now(),
      ),
    ).webhook.id;
  add(contact, works);
  return add(shop, fails);
}

/** Adds one recipient who got the last submissions, and one who has not agreed yet. Nothing is sent. */
function addMail(
  { owner, clock }: TestServer,
  endpointId: string,
): Pick<OwnerHome, "mailRecipientId" | "mailDeliveryId"> {
  const now = clock.now();
  const add = (address: string, isConfirmed: boolean): string => {
    const settings = { ...defaultMailRecipientSettings, address };
    const made = { endpointId, settings, isConfirmed };
    return owner.now(() => addMailRecipient(made, now - 20 * 24 * HOUR_MS)).id;
  };
  const recipientId = add("workshop@joinery.example", true);
  add("jonas@joinery.example", false);
  const ids = addDelivered(owner, endpointId, recipientId);
  return { mailRecipientId: recipientId, mailDeliveryId: ids[0] ?? "" };
}

function addReply(
  { owner, clock }: TestServer,
  endpointId: string,
): Pick<OwnerHome, "autoReplyId" | "replyDeliveryId"> {
  const now = clock.now();
  const text =
    "Thank you for your order request.\n\nWe look at the drawings and answer within two working days. If it is urgent, call the workshop.\n\nAda and Jonas";
  const settings = { field: "email", subject: "Your request to the workshop", text, replyToId: null };
  const id = owner.now(function* () {
    const made = yield* insertAutoReplyRows(endpointId, settings, now - 20 * 24 * HOUR_MS);
    yield* setConfirmed(made, now - 20 * 24 * HOUR_MS);
    yield* noteReplyBegun(made, now - 3 * HOUR_MS);
    return made;
  });
  return { autoReplyId: id, replyDeliveryId: addDelivered(owner, endpointId, id)[0] ?? "" };
}

/** Adds an e-mail about each of the last submissions. Returns the ids of the e-mails, newest first. */
function addDelivered(owner: TestServer["owner"], endpointId: string, recipientId: string): string[] {
  const addDelivery = owner.prepare(
    `INSERT INTO delivery (id, submission_id, recipient_id, state, attempts, due_at, finished_at)
     VALUES (?, ?, ?, 'delivered', 1, ?, ?)`,
  );
  const addAttempt = owner.prepare(
    `INSERT INTO attempt (delivery_id, number, started_at, duration_ms, outcome, status, is_probe)
     VALUES (?, 1, ?, 180, 'delivered', 250, 0)`,
  );
  const told = owner
    .prepare(
      `SELECT id, created_at FROM submission
       WHERE endpoint_number = (SELECT number FROM endpoint_number WHERE endpoint_id = ?)
       ORDER BY seq DESC LIMIT 8`,
    )
    .all(endpointId) as { id: string; created_at: number }[];
  return told.map(({ id, created_at: at }) => {
    const messageId = newId("msg", at);
    addDelivery.run(messageId, id, recipientId, at, at + 1000);
    addAttempt.run(messageId, at + 800);
    return messageId;
  });
}

/** Waits until no message is under way, so that the next post comes after all messages. */
async function settled({ owner }: TestServer): Promise<void> {
  const waiting = owner.prepare(
    "SELECT count(*) FROM delivery WHERE state = 'sending' OR (state = 'pending' AND attempts = 0 AND due_at = 0)",
  );
  await until(
    () => waiting.pluck().get() === 0 && owner.prepare("SELECT count(*) FROM outbox").pluck().get() === 0,
  );
}

/** Gives the receivers the public names that the pictures show. Nothing is sent to these names. */
function nameReceivers({ owner }: TestServer, end: number): void {
  owner.prepare("UPDATE delivery SET due_at = ? WHERE state = 'pending'").run(end + HOUR_MS);
  owner.prepare("UPDATE recipient SET not_before = ? WHERE failing_since IS NOT NULL").run(end + HOUR_MS / 3);
  const rename = owner.prepare("UPDATE webhook SET url = ? WHERE url LIKE ?");
  rename.run("https://hooks.example.com/joinery", "%/works");
  rename.run("https://crm.example.com/hooks/orders", "%/fails");
}
