import { expect, test } from "vitest";
import { listMembers } from "../../src/workspaces/member-store.ts";
import { findAccountByEmail } from "../../src/workspaces/workspace-store.ts";
import { furnish } from "../support/owner-home.ts";
import { PASSWORD, signInForms } from "../support/sign-in-form.ts";
import { startServer } from "../support/test-server.ts";

const GUEST = "guest@example.org";
const SECRET = "a-secret-of-sixteen-characters";
const from = (email: string) => ({ "remote-email": email, "x-proxy-secret": SECRET });

/** Bea, who is no operator, has handed the link of an invitation over, which is opened through a proxy that names somebody. */
async function handedOver(passwords: "on" | "off") {
  const server = await startServer({
    server: { port: 0, trustProxy: ["127.0.0.1"] },
    dashboard: {
      passwords,
      trustedUserHeader: { name: "Remote-Email", secretHeader: "X-Proxy-Secret", secret: SECRET },
    },
  });
  // The first account, so that Bea is no operator.
  const forms = signInForms(server);
  const bea = await furnish(server, "bea@example.com");
  server.owner.execute("DELETE FROM invitation");
  const invited = await bea.visitor.post(`/dashboard/workspaces/${bea.workspaceId}/members`, {
    email: GUEST,
    role: "reader",
    of: "all",
    export: "on",
    spam_details: "on",
  });
  const token = /\/dashboard\/invitation#([\w-]{32})/.exec(invited.text)?.[1] ?? "";
  const open = (headers = {}) => forms.post("/invitation", { token }, headers);
  const accept = (headers = {}, fields = {}) =>
    forms.post("/invitation/accept", { token, ...fields }, headers);
  const guest = () => server.owner.now(() => findAccountByEmail(GUEST));
  const isMember = () =>
    server.owner.now(() => listMembers(bea.workspaceId)).some(({ email }) => email === GUEST);
  const inbox = (headers: Record<string, string>) =>
    server.request({ method: "GET", path: "/dashboard", headers });
  return { server, open, accept, guest, isMember, inbox };
}

test.each(["on", "off"] as const)(
  "whom a proxy names by the invited address has an account without password and session, which is not in doubt, with passwords %s",
  async (passwords) => {
    const { server, open, accept, guest, isMember, inbox } = await handedOver(passwords);
    const seen = await open(from("Guest@Example.ORG"));
    expect([seen.status, seen.text.includes("the proxy in front of this server signs you in")]).toEqual([
      200,
      true,
    ]);
    expect(seen.text).not.toMatch(/new_password|href="\/dashboard\/sign-in"/);
    const entered = await accept(from("Guest@Example.ORG"));
    expect([entered.status, entered.headers["location"]]).toEqual([303, "/dashboard"]);
    expect(entered.headers["set-cookie"]).toBeUndefined();
    expect([guest()?.isDoubtful, isMember()]).toEqual([false, true]);
    expect(server.owner.prepare("SELECT count(*) FROM credential").pluck().get()).toBe(0);
    expect((await inbox(from(GUEST))).text).toContain(GUEST);
    // Once.
    expect((await accept(from(GUEST))).status).toBe(404);
  },
);

test("who is named by another address does not accept it, with a password neither, and the page says why", async () => {
  const { open, accept, guest } = await handedOver("on");
  const seen = await open(from("eve@example.org"));
  expect(seen.text).toContain("names <bdi>eve@example.org</bdi>, and the invitation is for another address");
  expect(seen.text).not.toContain("Make the account");
  expect((await accept(from("eve@example.org"), { new_password: PASSWORD })).status).toBe(401);
  expect(guest()).toBeUndefined();
});

test("who comes past the proxy with a password has an account in doubt, which the proxy does not open", async () => {
  const { accept, guest, inbox } = await handedOver("on");
  expect((await accept({}, { new_password: PASSWORD })).status).toBe(303);
  expect(guest()?.isDoubtful).toBe(true);
  expect((await inbox(from(GUEST))).status).toBe(303);
});

test("with passwords off and no issuer, who comes past the proxy is told to come through it, and gets no account", async () => {
  const { open, accept, guest } = await handedOver("off");
  expect((await open()).text).toContain("Open the link through the proxy that signs people in here");
  expect((await accept({}, { new_password: PASSWORD })).status).toBe(403);
  expect(guest()).toBeUndefined();
});
