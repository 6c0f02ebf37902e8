import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { type Asked, softwareAuthenticator } from "../support/software-authenticator.ts";

const ORIGIN = "https://forms.example.com";

test("the built file takes passkeys: the library for them is inside, and is loaded when it is needed", async () => {
  const machine = operatorMachine({ server: { baseUrl: ORIGIN } });
  await machine.mustRun(["account", "create", "ana@example.org"]);
  const link = await machine.json<{ url: string }>(["account", "sign-in-link", "ana@example.org"]);
  const token = link.url.split("#")[1] ?? "";
  const { url } = await machine.serve();
  const post = (path: string, form: Record<string, string>, cookie = "") =>
    fetch(`${url}/dashboard${path}`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, "sec-fetch-site": "same-origin" },
      body: new URLSearchParams(form),
    });
  const cookieOf = (answer: Response, name: string): string =>
    answer.headers
      .getSetCookie()
      .find((each) => each.startsWith(name))
      ?.split(";")[0] ?? "";
  const password = "correct horse battery";
  const entered = await post("/sign-in/link", { token, new_password: password });
  const session = cookieOf(entered, "formsvc-session");
  const begun = await post("/account/passkeys/new", { name: "Key", password }, session);
  const options = /data-new-passkey="([^"]*)"/.exec(await begun.text())?.[1] ?? "";
  const device = softwareAuthenticator(ORIGIN);
  const passkey = device.make(JSON.parse(options.replaceAll("&quot;", '"')) as Asked);
  const cookies = `${session}; ${cookieOf(begun, "formsvc-flow")}`;
  expect((await post("/account/passkeys", { name: "Key", passkey }, cookies)).status).toBe(201);
  const asked = await post("/sign-in/passkey/ask", { use: "alone" });
  const answer = device.answer((await asked.json()) as Asked);
  const back = await post("/sign-in/passkey", { passkey: answer }, cookieOf(asked, "formsvc-flow"));
  expect([back.status, cookieOf(back, "formsvc-session") !== ""]).toEqual([303, true]);
});
