import { expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { INVITATION_LIFETIME_MS } from "../../src/workspaces/invitation-store.ts";
import { listMembers } from "../../src/workspaces/member-store.ts";
import { isOwnProvedAddress } from "../../src/workspaces/proved-email.ts";
import { findAccountByEmail } from "../../src/workspaces/workspace-store.ts";
import type { Answer } from "../support/http-client.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { formsIn } from "../support/page-forms.ts";
import { startMailedSite, textOf } from "../support/mailed-site.ts";
import { cookieOf, PASSWORD, signInForms } from "../support/sign-in-form.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

const GUEST = "guest@example.org";
const INVITATION = "/dashboard/invitation";

/** What is behind the # of the link in a text. */
function tokenIn(text: string): string {
  return /\/dashboard\/invitation#([\w-]{32})/.exec(text)?.[1] ?? "";
}

/** Who is a member of the workspace and has the address. */
function memberOf({ owner }: TestServer, { workspaceId }: OwnerHome, address: string) {
  return owner.now(() => listMembers(workspaceId)).find(({ email }) => email === address);
}

/** Bea, who is no operator, owns a form, and is asked as a browser asks. */
async function withoutMail() {
  const server = await startServer();
  const forms = signInForms(server);
  const bea = await furnish(server, "bea@example.com");
  server.owner.execute("DELETE FROM invitation");
  const invite = (fields: Record<string, string> = {}) =>
    bea.visitor.post(`/dashboard/workspaces/${bea.workspaceId}/members`, {
      email: GUEST,
      role: "reader",
      of: "all",
      export: "on",
      spam_details: "on",
      ...fields,
    });
  const answer = (token: string, path = "", fields: Record<string, string> = {}): Promise<Answer> =>
    forms.post(`/invitation${path}`, { token, ...fields });
  return { server, forms, bea, invite, answer };
}

test("without a mail server a link is shown once to hand over; with it somebody new chooses a password and is a member", async () => {
  const { server, bea, invite, answer } = await withoutMail();
  const shown = await invite({ role: "editor", of: "some", endpoint: bea.endpointId });
  expect(shown.status).toBe(201);
  expect(shown.text).toContain("This server sends no e-mail, so hand the link over yourself.");
  const token = tokenIn(shown.text);
  const members = await bea.visitor.get(`/dashboard/members?workspace=${bea.workspaceId}`);
  expect(members.text).toContain(GUEST);
  expect(members.text).not.toContain(token);

  const seen = await answer(token);
  expect(seen.status).toBe(200);
  for (const words of ["bea@example.com", "Form of bea@example.com", "Editor", GUEST])
    expect(seen.text).toContain(words);
  expect(memberOf(server, bea, GUEST)).toBeUndefined();

  const entered = await answer(token, "/accept", { new_password: PASSWORD });
  expect([entered.status, entered.headers["location"]]).toEqual([303, "/dashboard"]);
  expect(memberOf(server, bea, GUEST)).toMatchObject({
    role: "editor",
    endpoints: [bea.endpointId],
    by: "bea@example.com",
  });
  const cookie = cookieOf(entered);
  const submission = `/dashboard/submissions/${bea.submissionIds[0] ?? ""}`;
  expect((await server.request({ method: "GET", path: submission, headers: { cookie } })).status).toBe(200);
  const changes = server.owner.now(() => listChanges(3)).map(({ action, subject }) => `${action} ${subject}`);
  expect(changes).toEqual([`member.accept ${GUEST}`, `account.create ${GUEST}`, `member.invite ${GUEST}`]);
  // Bea could have used the link herself, so the address is not proved.
  const account = server.owner.now(() => findAccountByEmail(GUEST));
  expect(server.owner.now(() => isOwnProvedAddress(account?.id ?? "", GUEST))).toBe(false);
});

test("a link that does not work says so in the language of the reader's browser", async () => {
  const { forms } = await withoutMail();
  for (const path of ["", "/accept"]) {
    const form = { token: "A".repeat(32), new_password: PASSWORD };
    const { status, text } = await forms.post(`/invitation${path}`, form, { "accept-language": "ar" });
    expect([status, text]).toEqual([404, expect.stringContaining('<div lang="ar" dir="rtl">')]);
    expect(text).toContain("هذا الرابط لا يعمل");
  }
});

test("a link that was used, withdrawn, replaced or is late is refused in the same words, and makes no account", async () => {
  const { server, bea, invite, answer } = await withoutMail();
  const withdrawn = tokenIn((await invite()).text);
  const path = `/dashboard/workspaces/${bea.workspaceId}/members/withdraw`;
  expect((await bea.visitor.post(path, { email: GUEST })).status).toBe(303);
  const replaced = tokenIn((await invite()).text);
  const used = tokenIn((await invite()).text);
  expect((await answer(used, "/accept", { new_password: PASSWORD })).status).toBe(303);
  const late = tokenIn((await invite({ email: "late@example.org" })).text);
  server.clock.advance(INVITATION_LIFETIME_MS);
  const made = "A".repeat(32);
  const [first = "", ...others] = await Promise.all(
    [withdrawn, replaced, used, late, made].map(async (token) => {
      const { status, text } = await answer(token, "/accept", { new_password: PASSWORD });
      expect([status, text.includes("This link does not work")]).toEqual([404, true]);
      return text;
    }),
  );
  for (const other of others) expect(other).toBe(first);
  expect(server.owner.now(() => findAccountByEmail("late@example.org"))).toBeUndefined();
});

test("who is named wrongly is asked for again at the address, and what was not ticked above it", async () => {
  const { invite } = await withoutMail();
  for (const email of ["no address", "bea@example.com"]) {
    const { status, text } = await invite({ email });
    expect([status, text]).toEqual([422, expect.stringContaining('id="f-email-problem"')]);
  }
  const none = await invite({ of: "some" });
  expect(none.text).not.toContain("f-email-problem");
  expect(none.text).toContain("<li>Tick the forms that they see, or choose all.</li>");
});

test("a token is never in an address: opening the page with one shows nothing and changes nothing", async () => {
  const { server, bea, invite } = await withoutMail();
  const token = tokenIn((await invite()).text);
  for (const path of [`${INVITATION}?token=${token}`, `${INVITATION}/accept?token=${token}`]) {
    const { text } = await server.request({ method: "GET", path });
    expect(text).not.toContain("bea@example.com");
  }
  expect(memberOf(server, bea, GUEST)).toBeUndefined();
  const crossSite = { "sec-fetch-site": "cross-site", "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ token, new_password: PASSWORD }).toString();
  const sent = await server.request({
    method: "POST",
    path: `${INVITATION}/accept`,
    headers: crossSite,
    body,
  });
  expect(sent.status).toBe(403);
});

test.each([
  ["shown", ""],
  ["accepted", "/accept"],
])(
  "guessed tokens that are to be %s are counted once each, so that the right one is refused too after ten",
  async (_what, path) => {
    const { server, invite, answer } = await withoutMail();
    const token = tokenIn((await invite()).text);
    for (let guess = 0; guess < 10; guess += 1)
      expect((await answer(String(guess).padStart(32, "x"), path)).status).toBe(404);
    expect(server.log.filter((line) => line.includes('"sign-in.failed"'))).toHaveLength(10);
    for (const each of ["", "/accept"]) {
      const refused = await answer(token, each, { new_password: PASSWORD });
      expect(refused.text).not.toContain(GUEST);
      expect([refused.status, Number(refused.headers["retry-after"]) > 0]).toEqual([429, true]);
    }
  },
);

test("looking at a good link again and again is no guess", async () => {
  const { invite, answer } = await withoutMail();
  const token = tokenIn((await invite()).text);
  for (let look = 0; look < 12; look += 1) expect((await answer(token)).status).toBe(200);
});

test("a refused password leaves the link good, asks again, and is no failed attempt, however often", async () => {
  const { server, invite, answer } = await withoutMail();
  const token = tokenIn((await invite()).text);
  const short = await answer(token, "/accept", { new_password: "short" });
  expect(short.status).toBe(422);
  const again = formsIn(short.text, INVITATION).find(({ action }) => action.endsWith("/accept"));
  expect(new Map(again?.fields).get("token")).toBe(token);
  expect(server.owner.now(() => findAccountByEmail(GUEST))).toBeUndefined();
  for (let more = 0; more < 12; more += 1)
    expect((await answer(token, "/accept", { new_password: "short" })).status).toBe(422);
  expect((await answer(token, "/accept", { new_password: PASSWORD })).status).toBe(303);
});

test("a forwarded link is refused to another account, also to one that is signed in, and stays good for its own", async () => {
  const { server, bea, invite } = await withoutMail();
  const guest = await visit(server, GUEST);
  const stranger = await visit(server, "stranger@example.org");
  const token = tokenIn((await invite()).text);
  const seen = await stranger.post(INVITATION, { token });
  expect(seen.text).toContain("the invitation is for another address");
  expect(formsIn(seen.text, INVITATION).map(({ action }) => action)).not.toContain(`${INVITATION}/accept`);
  const own = await guest.post(INVITATION, { token });
  const accept = formsIn(own.text, INVITATION).find(({ action }) => action.endsWith("/accept"));
  const form = Object.fromEntries(accept?.fields ?? []);
  expect((await stranger.post(accept?.action ?? "", form)).status).toBe(404);
  // Nor does a link take an account that is there away from its holder.
  const taken = await stranger.post(`${INVITATION}/accept`, { token, new_password: PASSWORD });
  expect([taken.status, taken.text.includes("There is an account with this address")]).toEqual([401, true]);
  expect(memberOf(server, bea, "stranger@example.org")).toBeUndefined();
  expect((await guest.post(accept?.action ?? "", form)).headers["location"]).toContain(
    "/dashboard?notice=invitation-accepted",
  );
  expect(memberOf(server, bea, GUEST)).toMatchObject({ role: "reader" });
});

test("an account finds its invitations in the menu, accepts one and declines another", async () => {
  const { server, bea, invite } = await withoutMail();
  const cleo = await furnish(server, "cleo@example.com");
  server.owner.execute("DELETE FROM invitation");
  const guest = await visit(server, GUEST);
  expect((await guest.get("/dashboard")).text).not.toContain("/dashboard/invitations");
  expect((await guest.get("/dashboard/invitations")).text).toContain("Nobody has invited you");
  await invite();
  const path = `/dashboard/workspaces/${cleo.workspaceId}/members`;
  await cleo.visitor.post(path, { email: GUEST, role: "owner", of: "all" });
  expect((await guest.get("/dashboard")).text).toContain('href="/dashboard/invitations"');
  const page = await guest.get("/dashboard/invitations");
  for (const words of ["bea", "Reader", "cleo@example.com", "Owner"]) expect(page.text).toContain(words);
  const forms = formsIn(page.text, "/dashboard/invitations").filter(({ action }) => action.includes("inv_"));
  expect(forms.map(({ action }) => action.split("/").at(-1))).toEqual([
    "accept",
    "decline",
    "accept",
    "decline",
  ]);
  expect((await guest.post(forms[0]?.action ?? "")).status).toBe(303);
  expect((await guest.post(forms[3]?.action ?? "")).status).toBe(303);
  expect(memberOf(server, bea, GUEST)).toMatchObject({ role: "reader" });
  expect(memberOf(server, cleo, GUEST)).toBeUndefined();
  expect((await guest.post(forms[2]?.action ?? "")).status).toBe(404);
});

test("what is wrong with an invitation is said above the form, which keeps what was typed", async () => {
  const { bea, invite } = await withoutMail();
  for (const [fields, words] of [
    [{ email: "no address" }, "no address"],
    [{ of: "some" }, "Tick the forms that they see"],
    [{ email: "bea@example.com" }, "is a member of"],
  ] as const) {
    const again = await invite(fields);
    expect([again.status, again.text.includes(words)], words).toEqual([422, true]);
    const form = formsIn(again.text, "/dashboard/members").find(({ fields: has }) =>
      new Map(has).has("email"),
    );
    expect(new Map(form?.fields).get("email")).toBe("email" in fields ? fields.email : GUEST);
  }
  const members = await bea.visitor.get(`/dashboard/members?workspace=${bea.workspaceId}`);
  expect(members.text).not.toContain("Invited, not here yet");
});

test("with a mail server the link comes by letter alone, proves the address, and is used once", async () => {
  const site = await startMailedSite();
  const { server } = site;
  const bea = await furnish(server, "bea@example.com");
  const path = `/dashboard/workspaces/${bea.workspaceId}/members`;
  const invited = await bea.visitor.post(path, { email: GUEST, role: "reader", of: "all", export: "on" });
  expect(invited.headers["location"]).toContain("notice=invited");
  const letter = textOf(await site.letterTo(GUEST));
  expect(letter).toContain("Subject: You are invited to forms.example.com");
  for (const chosen of ["bea", "Form of"]) expect(letter).not.toContain(chosen);
  const token = tokenIn(letter);
  const entered = await site.post("/invitation/accept", { token, new_password: PASSWORD });
  expect(entered.status).toBe(303);
  expect(memberOf(server, bea, GUEST)).toMatchObject({
    role: "reader",
    mayExport: true,
    seesSpamDetails: false,
  });
  const account = server.owner.now(() => findAccountByEmail(GUEST));
  expect(server.owner.now(() => isOwnProvedAddress(account?.id ?? "", GUEST))).toBe(true);
  expect((await site.post("/invitation/accept", { token, new_password: PASSWORD })).status).toBe(404);
});
