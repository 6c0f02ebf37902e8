import type { Answer } from "./http-client.ts";
import { formsIn } from "./page-forms.ts";
import { signInForms } from "./sign-in-form.ts";
import { type ReceivedMail, startMailServer } from "./smtp-servers.ts";
import { type ConfigOverrides, startServer } from "./test-server.ts";
import { until } from "./until.ts";

export const BASE_URL = "https://forms.example.com";

/** Starts a server that sends mail to a real mail server on loopback. Ada has an account without a password. */
export async function startMailedSite({
  dashboard = {},
  mail: mailed = {},
  ...overrides
}: ConfigOverrides = {}) {
  const mail = await startMailServer();
  const server = await startServer({
    server: { port: 0, baseUrl: BASE_URL },
    mail: { host: "127.0.0.1", port: mail.port, from: "forms@example.com", ...mailed },
    dashboard: { signUp: "open", ...dashboard },
    ...overrides,
  });
  const forms = signInForms(server);
  return {
    server,
    mail,
    ...forms,
    get: (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
      server.request({ method: "GET", path, headers }),
    /** Sends the form of a page with further fields, as a browser without scripts does. */
    fill: async (path: string, fields: Record<string, string>): Promise<Answer> => {
      const page = await server.request({ method: "GET", path });
      const form = formsIn(page.text, path)[0];
      if (form === undefined) throw new Error(`${path} has no form: ${page.status}`);
      return forms.post(form.action.replace("/dashboard", ""), {
        ...Object.fromEntries(form.fields),
        ...fields,
      });
    },
    /** Waits until `count` letters to an address have come, and returns the last of them. */
    letterTo: (address: string, count = 1): Promise<ReceivedMail> =>
      until(() => mail.received.filter(({ to }) => to.includes(address))[count - 1]),
  };
}

/** Decodes the text of a letter. */
export function textOf({ raw }: ReceivedMail): string {
  return raw
    .toString("latin1")
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Returns the path of the link in a letter, with its query. */
export function pathIn(letter: ReceivedMail): string {
  const [url = ""] = /https:\/\/forms\.example\.com\/\S+/.exec(textOf(letter)) ?? [];
  return url.slice(BASE_URL.length);
}
