import { html, type Html } from "../../foundation/html.ts";

/** The sentences that a page shows after a write has redirected to it. Only these sentences can be shown, whatever an address contains. */
const NOTICES: Readonly<Record<string, string | ((count: number) => string)>> = {
  saved: "Saved.",
  "spam-saved": "Saved. The settings hold for new posts from now on; earlier scores stay as they are.",
  "nothing-changed": "Nothing was changed.",
  "endpoint-paused": "Paused: every post is refused until you open it again.",
  "endpoint-resumed": "The form takes posts again.",
  "endpoint-moved": "The form is in the other workspace.",
  "endpoint-being-moved":
    "The form is in the other workspace. Its held posts follow within some minutes, because new posts go first.",
  "workspace-deleted": "The workspace and all that was in it are deleted.",
  "workspace-being-deleted":
    "The forms of the workspace take no posts any more, and it is being deleted. This may take some minutes, because other posts go first.",
  invited: "They are invited: a letter with the link is on its way.",
  "invited-already":
    "The invitation was made already, and its link was shown that once. If it is lost, invite them again.",
  "invitation-withdrawn": "The invitation is withdrawn: its link does nothing any more.",
  "invitation-accepted": "You are a member of the workspace now.",
  "invitation-declined": "The invitation is declined.",
  "member-removed": "They are no member any more, and see nothing of the workspace.",
  "workspace-transferred": "The workspace is handed over.",
  "workspace-left": "You left the workspace.",
  "account-deleted": "The account is deleted.",
  "account-being-deleted":
    "The account’s forms take no posts any more, and it is being deleted. This may take some minutes, because other posts go first.",
  "endpoint-deleted": "The form and all that was sent to it are deleted.",
  "endpoint-being-deleted":
    "The form takes no posts any more and is being deleted. This may take some minutes, because other posts go first.",
  "file-deleted": "The file is deleted for good. Its name and size stay here.",
  "key-issued-already":
    "The key was issued already, and was shown that once. If it is lost, revoke it and issue another one.",
  "key-revoked": "The key is revoked: it is refused from now on.",
  "fields-saved": "Saved. Posts are checked with these fields from now on; earlier posts stay as they are.",
  "fields-lost":
    "Saved. But a recipient or the automatic reply needs a field that the form no longer has: a condition on it counts as met now, and the reply is sent to nobody. See the notifications of the form.",
  "field-added": "The field is added: posts from now on have it among their fields. This one stays as it is.",
  "field-there": "The form has that field by now. Nothing was changed.",
  "field-not-added":
    "The field was not added: its name is too long or unclear, or the form has as many fields as it may have. Add it on the page of the fields.",
  "token-made-already":
    "The token was made already, and was shown that once. If it is lost, revoke it and make another.",
  "token-revoked": "The token is revoked: programs that use it are refused from now on.",
  "signed-out": "You are signed out.",
  "password-changed": "The password is changed. Other browsers were signed out.",
  "factor-removed": "The second factor is off. Other browsers were signed out.",
  "passkey-added": "The passkey is added. Other browsers were signed out.",
  "passkey-removed":
    "The passkey is removed, and other browsers were signed out. Delete it on the device too.",
  "codes-shown-already":
    "That was done already, and the recovery codes were shown that once. If they are lost, make new ones.",
  "sessions-ended": (count) =>
    count === 1 ? "One browser was signed out." : `${count} browsers were signed out.`,
  "endpoint-made-already":
    "The form was made already, and its keys were shown that once. If they are lost, issue others on its page.",
  "secret-made-already":
    "The new secret was made already, and was shown that once. If it is lost, make another.",
  "account-made": "The account is there. Make a sign-in link for it, and hand that over.",
  unbound: "The account is nobody at the issuer any more, and all sessions have ended.",
  vouched: "The account belongs to the holder of its address now. What it signed in with before has ended.",
  "factor-reset": "The second factor is removed, and all sessions have ended.",
  "link-made-already": "The link was made already, and was shown that once. If it is lost, make another.",
  "plan-changed-meanwhile":
    "Nothing was changed: somebody else has put the workspace on another plan meanwhile.",
  "workspace-made": "The workspace is there.",
  "saved-but-refused": "Saved, but nothing can be sent to that address as it is. A test says more.",
  "sent-again": (count) => (count === 1 ? "One message is sent again." : `${count} messages are sent again.`),
  "webhook-deleted": "The webhook is deleted.",
  "webhook-made-already":
    "The webhook was added already, and its secret was shown that once. If it is lost, make a new one on its page.",
  "tried-now": "What waits is tried now. Look again in a moment.",
  "sending-paused": "Sending is paused. New submissions are kept for it.",
  "sending-started": "Sending has started; what was kept goes first.",
  "recipient-asked":
    "An e-mail is on its way that asks the holder of the address. Nothing else is sent until they agree.",
  "recipient-not-asked":
    "The recipient is there, but too many such e-mails were sent within an hour. Send the question again later.",
  "own-recipient-made":
    "Your address gets e-mail from now on. Nobody has to agree: it is your account’s own.",
  "recipient-made-already": "The recipient was added already.",
  "recipient-deleted": "The recipient is deleted.",
  "reply-on": "Saved. Whoever writes from now on gets this reply.",
  "reply-off": "Off: nobody gets a reply any more. Your text is kept for the next time.",
  "origin-allowed": "The site is allowed: what it sends from now on is taken.",
  "origin-ignored":
    "Posts from that site are refused, and are not kept any more. The form’s settings can take this back.",
  "origin-heeded": "Posts from that site are kept under Held again. To take them, allow the site.",
  "held-released": (count) => `${posts(count)} released. What was released is in the inbox.`,
  "held-limit": (count) =>
    `${posts(count)} released; the others stay here, because the month’s limit of the plan is reached.`,
  "held-dropped": (count) => `${posts(count)} dropped for good.`,
  "none-selected": "Select at least one row first.",
  "in-bin": (count) =>
    `Nothing was changed: ${count === 1 ? "the submission is" : "the submissions are"} in the bin already.`,
  "did-spam": (count) => `${submissions(count)} marked as spam. The filter learns from it.`,
  "did-ham": (count) => `${submissions(count)} marked as not spam. The filter learns from it.`,
  "did-restore": (count) =>
    count === 1
      ? "The mark of one submission is as before."
      : `The marks of ${count} submissions are as before.`,
  "did-none": (count) => `The mark of ${submissions(count)} is removed.`,
  "did-read": (count) => `${submissions(count)} marked as read.`,
  "did-unread": (count) => `${submissions(count)} marked as unread.`,
  "did-done": (count) => `${submissions(count)} marked as done.`,
  "did-open": (count) => `${submissions(count)} marked as open.`,
  "did-assign": (count) => `${submissions(count)} assigned.`,
  "did-delete": (count) => `${submissions(count)} moved to the bin.`,
  "did-undelete": (count) => `${submissions(count)} brought back out of the bin.`,
  "did-purge": (count) => `${submissions(count)} deleted for good.`,
  noted: "The note is added.",
};

/** The value of the button that undoes a change, by the key of its notice. */
const UNDO: Readonly<Record<string, string>> = {
  "did-delete": "undelete",
  "did-done": "open",
  "did-spam": "none",
};
/** Whether a notice offers to undo its change. */
export function canBeUndone(key: string): boolean {
  return Object.hasOwn(UNDO, key);
}

const SUBMISSION_ID = /^sub_[0-9a-z]{26}$/;
const MAX_UNDONE = 50;

/** Null if the address names no notice. @param path the path of the page that shows it */
export function noticeHtml(query: URLSearchParams, path = ""): Html | null {
  const key = query.get("notice") ?? "";
  if (!Object.hasOwn(NOTICES, key)) return null;
  const count = Number(query.get("n") ?? 0);
  const words = NOTICES[key] ?? "";
  const sentence = typeof words === "string" ? words : words(Number.isSafeInteger(count) ? count : 0);
  const [ids, hams] = [idsIn(query, "undo"), idsIn(query, "ham")];
  const undo = Object.hasOwn(UNDO, key) && ids.length + hams.length > 0 ? UNDO[key] : undefined;
  if (undo === undefined) return html`<p class="notice" role="status">${sentence}</p>`;
  return html`<form class="notice undo" method="post" action="/dashboard/bulk?${returnQuery(query, path)}">
    <span role="status">${sentence}</span>
    ${ids.map((id) => html`<input type="hidden" name="id" value="${id}" />`)}
    ${hams.map((id) => html`<input type="hidden" name="ham" value="${id}" />`)}
    <button class="small" name="do" value="${undo}">Undo</button>
  </form>`;
}

function idsIn(query: URLSearchParams, name: string): readonly string[] {
  return (query.get(name) ?? "").split(".", MAX_UNDONE).filter((id) => SUBMISSION_ID.test(id));
}

/** The query that returns to this page: its filter, and the submission that it shows. */
function returnQuery(query: URLSearchParams, path: string): string {
  const rest = new URLSearchParams(query);
  for (const name of ["notice", "n", "undo", "ham"]) rest.delete(name);
  const on = path.split("/").at(-1) ?? "";
  if (SUBMISSION_ID.test(on)) rest.set("on", on);
  return rest.toString();
}

function posts(count: number): string {
  return count === 1 ? "1 post is" : `${count} posts are`;
}

function submissions(count: number): string {
  return count === 1 ? "1 submission" : `${count} submissions`;
}
