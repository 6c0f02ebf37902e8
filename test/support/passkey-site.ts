import type { Answer } from "./http-client.ts";
import { cookieNamed } from "./oidc-site.ts";
import { formsIn } from "./page-forms.ts";
import { ADA, PASSWORD, signInForms } from "./sign-in-form.ts";
import {
  type Asked,
  type Lies,
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from "./software-authenticator.ts";
import { type ConfigOverrides, startServer } from "./test-server.ts";
import { visit, type Visitor } from "./visitor.ts";

const ORIGIN = "https://forms.example.com";

/** Starts a server with passkeys, where Ada has a password. The returned functions send what a browser sends. */
export async function startPasskeySite(overrides: ConfigOverrides = {}) {
  const server = await startServer({ server: { port: 0, baseUrl: ORIGIN }, ...overrides });
  const forms = signInForms(server);
  const first = await forms.useLink();
  if (first.status !== 303) throw new Error(`no password: ${first.status}`);

  /** Does the first step of adding a passkey, and returns what the second step needs. */
  const begin = async (visitor: Visitor, password = PASSWORD) => {
    const form = { name: "My key", password };
    const answer = await visitor.post("/dashboard/account/passkeys/new", form);
    const options = /data-new-passkey="([^"]*)"/.exec(answer.text)?.[1] ?? "null";
    const asked = JSON.parse(options.replaceAll("&quot;", '"').replaceAll("&amp;", "&")) as Asked;
    return { answer, asked, flow: cookieNamed(answer, "formsvc-flow") };
  };
  const finish = (visitor: Visitor, flow: string, passkey: string, name = "My key"): Promise<Answer> =>
    visitor.post("/dashboard/account/passkeys", { name, passkey }, { cookie: `${visitor.cookie}; ${flow}` });
  /** Asks for the challenge, as the script of the sign-in page does. */
  const ask = async (use: "alone" | "second factor") => {
    const answer = await forms.post("/sign-in/passkey/ask", { use });
    return { asked: JSON.parse(answer.text) as Asked, flow: cookieNamed(answer, "formsvc-flow") };
  };
  const enter = (passkey: string, cookie: string): Promise<Answer> =>
    forms.post("/sign-in/passkey", { passkey }, { cookie });
  return {
    server,
    forms,
    begin,
    finish,
    ask,
    enter,
    device: () => softwareAuthenticator(ORIGIN),
    add: async (visitor: Visitor, device: SoftwareAuthenticator) => {
      const { asked, flow } = await begin(visitor);
      return finish(visitor, flow, device.make(asked));
    },
    ada: () => visit(server, ADA),
    /** Signs in with the password, and returns the ticket with which the server asks for the second factor. */
    ticket: async (): Promise<string> => {
      const page = await forms.signIn();
      return new Map(formsIn(page.text, "")[0]?.fields).get("ticket") ?? "";
    },
    /** Signs in with the passkey alone. @param lies what the device does wrong in its answer */
    signIn: async (device: SoftwareAuthenticator, lies: Lies = {}) => {
      const { asked, flow } = await ask("alone");
      return enter(device.answer(asked, lies), flow);
    },
    events: (event: string) =>
      server.log
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((each) => each["event"] === event),
  };
}

export function isIn(answer: Answer): boolean {
  return answer.status === 303 && cookieNamed(answer, "formsvc-session") !== "";
}

export function recoveryCodesIn({ text }: Answer): string[] {
  return (/<pre id="recovery-codes">([^<]*)</.exec(text)?.[1] ?? "")
    .split("\n")
    .filter((code) => code !== "");
}
