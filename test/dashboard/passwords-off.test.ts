import { expect, test } from "vitest";
import { findCredential } from "../../src/sessions/credential-store.ts";
import { makeMailedLink } from "../../src/sessions/mailed-link.ts";
import { makeSignInLink } from "../../src/sessions/sign-in-link.ts";
import { storeInvitation, makeInvitationToken } from "../../src/workspaces/invitation-store.ts";
import { vouchForAccount } from "../../src/sessions/vouch-operation.ts";
import { noteDoubt } from "../../src/workspaces/proved-email.ts";
import { insertAccountRows, listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import { READER } from "../support/members.ts";
import { ANA, cookieNamed, startOidcSite } from "../support/oidc-site.ts";
import { isIn, startPasskeySite } from "../support/passkey-site.ts";
import { CLIENT } from "../support/scripted-issuer.ts";
import { signInForms } from "../support/sign-in-form.ts";
import { performOn } from "../support/terminal.ts";
import { visit } from "../support/visitor.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

const MAIL = { host: "127.0.0.1", port: 9, from: "forms@example.com" };
const ROOT = "root@example.com";

/** What the log says of refused attempts. */
const failuresOf = ({ log }: { readonly log: readonly string[] }) =>
  log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === "sign-in.failed");

async function startWithoutPasswords() {
  const site = await startOidcSite({}, { dashboard: { passwords: "off" }, mail: MAIL });
  return { ...site, forms: signInForms(site.server) };
}

test("passwords that are off are neither asked for nor taken, wherever they were", async () => {
  const { get, forms, server } = await startWithoutPasswords();
  const shown = await get("/dashboard/sign-in");
  expect(shown.text).toContain("Sign in with Example ID");
  expect(shown.text).not.toMatch(/type="password"|lost-password|sign-up/);
  server.owner.execute("INSERT INTO credential SELECT id, '$argon2id$', NULL, NULL, 1 FROM account");
  const refused = await forms.signIn({ email: ROOT });
  expect([refused.status, refused.headers["set-cookie"]]).toEqual([403, undefined]);
  expect(failuresOf(server)).toMatchObject([{ by: "password", code: "forbidden" }]);
  for (const path of ["/dashboard/lost-password", "/dashboard/lost-password/new", "/dashboard/sign-up"])
    expect((await get(path)).status, path).toBe(404);
  const token = server.owner.now(() => makeMailedLink("reset", ROOT, server.clock.now()));
  const reset = await forms.post("/lost-password/new", { token, new_password: "another password" });
  expect(reset.status).toBe(404);
  const root = await visit(server, ROOT);
  expect((await root.get("/dashboard/account")).text).not.toContain('type="password"');
  const changed = await root.post("/dashboard/account/password", {
    password: "whatever it was",
    new_password: "another password",
  });
  expect(changed.status).toBe(403);
  const { passwordHash } = server.owner.now(() => findCredential(root.accountId)) ?? {};
  expect(passwordHash).toBe("$argon2id$");
});

test("a link from the machine signs in once without a password, and not past the second factor", async () => {
  const { forms, server, accountOf, signedInBy } = await startWithoutPasswords();
  const link = (): string => server.owner.now(() => makeSignInLink(ROOT, server.clock.now())).token;
  const token = link();
  const use = (form: Record<string, string>) => forms.post("/sign-in/link", form);
  const entered = await use({ token, new_password: "would be a password" });
  expect([entered.status, signedInBy(entered)]).toEqual([303, ROOT]);
  const id = accountOf(ROOT)?.id ?? "";
  expect(server.owner.now(() => findCredential(id))).toBeUndefined();
  expect((await use({ token })).status).toBe(404);
  server.owner.execute("INSERT INTO credential SELECT id, '$argon2id$', x'00', 1, 1 FROM account");
  const asked = await use({ token: link(), welcome: "1" });
  expect([asked.status, asked.text.includes('name="link_code"')]).toEqual([401, true]);
  expect(asked.text).not.toContain('name="new_password"');
});

test("who is invited signs in by the issuer, and no password makes the account", async () => {
  const { forms, server, signIn, signedInBy, get } = await startWithoutPasswords();
  const token = server.owner.now(function* () {
    const [workspace] = yield* listWorkspaces();
    const made = { email: ANA.email, byAccountId: null, isByOperator: true, madeAt: server.clock.now() };
    const id = yield* storeInvitation({ ...made, workspaceId: workspace?.id ?? "" }, READER);
    return yield* makeInvitationToken(id, "handed_hash", server.clock.now());
  });
  const shown = await forms.post("/invitation", { token: token ?? "" });
  expect(shown.text).toContain("it is made when you sign in");
  expect(shown.text).not.toContain("new_password");
  const forced = await forms.post("/invitation/accept", {
    token: token ?? "",
    new_password: "a good password",
  });
  expect([forced.status, signedInBy(forced)]).toEqual([403, undefined]);
  expect(failuresOf(server)).toMatchObject([{ by: "invitation", code: "forbidden" }]);
  const entered = await signIn();
  expect(signedInBy(entered)).toBe(ANA.email);
  const invitations = await get("/dashboard/invitations", cookieNamed(entered, "formsvc-session"));
  expect(invitations.text).toContain("Accept");
});

test("the issuer is not believed about an account in doubt, which says what to do, until an operator vouches for it", async () => {
  const { server, signIn, signedInBy } = await startWithoutPasswords();
  const { id } = server.owner.now(() => insertAccountRows(ANA.email, server.clock.now())).account;
  server.owner.now(() => noteDoubt(id));
  const refused = await signIn();
  expect([refused.status, signedInBy(refused)]).toEqual([401, undefined]);
  expect(refused.text).toContain("Ask whoever runs this server to vouch for the address.");
  expect(failuresOf(server)).toMatchObject([{ by: "oidc", code: "unauthorized" }]);
  await performOn(server.owner, vouchForAccount, { account: id });
  expect(signedInBy(await signIn())).toBe(ANA.email);
});

test("a passkey that an account has signs nobody in alone, and the sign-in page does not offer it", async () => {
  const oidc = { issuer: "http://127.0.0.1:9", ...CLIENT };
  const site = await startPasskeySite({ dashboard: { passwords: "off" }, oidc });
  const device = site.device();
  expect((await site.add(await site.ada(), device)).status).toBe(201);
  const sessions = (): unknown => site.server.owner.prepare("SELECT count(*) FROM session").pluck().get();
  const before = sessions();
  const refused = await site.signIn(device);
  expect([refused.status, isIn(refused), sessions()]).toEqual([403, false, before]);
  expect(refused.text).toContain("Nobody signs in by a passkey alone here");
  expect(failuresOf(site.server)).toMatchObject([{ by: "passkey", code: "forbidden" }]);
  expect(refused.text).not.toContain("Sign in with a passkey");
  const page = await site.server.request({ method: "GET", path: "/dashboard/sign-in" });
  expect([page.status, page.text.includes("Sign in with a passkey")]).toEqual([200, false]);
});

test("a second factor that is there is switched off within 15 minutes of the sign-in, and not later", async () => {
  const { server } = await startWithoutPasswords();
  server.owner.execute("INSERT INTO credential SELECT id, '$argon2id$', x'00', 1, 1 FROM account");
  const root = await visit(server, ROOT);
  const factor = () => server.owner.now(() => findCredential(root.accountId))?.totpSecret;
  server.clock.advance(15 * MINUTE_MS);
  const late = await root.post("/dashboard/account/second-factor/remove");
  expect([late.status, factor()]).toEqual([401, Buffer.from([0])]);
  expect(late.text).toContain("Sign out and in again, and do this within 15 minutes.");
  const fresh = await visit(server, ROOT);
  const gone = await fresh.post("/dashboard/account/second-factor/remove");
  expect([gone.status, factor()]).toEqual([303, null]);
});
