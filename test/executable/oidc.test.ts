import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { CLIENT, startScriptedIssuer } from "../support/scripted-issuer.ts";

test("the built file signs people in by an issuer: the library for it is inside, and is loaded when it is needed", async () => {
  const { issuer, signIn } = await startScriptedIssuer();
  const baseUrl = "http://127.0.0.1:8787";
  const machine = operatorMachine({ server: { baseUrl }, oidc: { issuer, ...CLIENT } });
  await machine.mustRun(["account", "create", "ana@example.org"]);
  const { url } = await machine.serve();
  const get = (path: string, cookie = "") =>
    fetch(`${url}/dashboard${path}`, { redirect: "manual", headers: { cookie } });
  const led = await get("/sign-in/oidc");
  expect(led.status).toBe(303);
  const [cookie = ""] = (led.headers.get("set-cookie") ?? "").split(";");
  const person = { sub: "ana", email: "ana@example.org", email_verified: true };
  const query = signIn(led.headers.get("location") ?? "", person);
  const back = await get(`/sign-in/oidc/callback?${query.toString()}`, cookie);
  expect([back.status, back.headers.get("location")]).toEqual([303, "/dashboard"]);
  const session = back.headers.getSetCookie().find((each) => each.startsWith("formsvc-session"));
  expect(await (await get("/account", session?.split(";")[0])).text()).toContain("ana@example.org");
});
