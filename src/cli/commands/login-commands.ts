import { hostname, userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { HERE, readContexts, type ServerContext, writeContexts } from "../remote/contexts.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { revokeOwnToken } from "../../tokens/token-operations.ts";
import { readServerAddress } from "../remote/choose-server.ts";
import { addCommand, command, type CommandContext, refuse } from "../command.ts";
import { operate } from "../operate.ts";

export function registerLogin(program: Command): void {
  addCommand(program, login);
}

export function registerLogout(program: Command): void {
  addCommand(program, logout);
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const WAIT_MS = 10_000;
/** Seconds that a client waits longer between two requests after the answer `slow_down`, by RFC 8628. */
const SLOWER_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 60;

const login = command({
  usage: "login <url>",
  summary: "Send commands to a server from now on, with a token that somebody approves in its dashboard",
  notes:
    "It shows a code and an address. Open the address, see that it shows the same code, choose what the token\nmay do, and approve it. Commands go to that server from then on; formsvc context use here brings them back.",
  isLocal: true,
  options: [
    { flags: "--name <name>", summary: "name of the token (default: USER on MACHINE)" },
    {
      flags: "--scope <scope>",
      summary:
        "scope to ask for; repeatable; whoever approves the token chooses (default: reading all but members)",
      repeatable: true,
    },
    { flags: "--context <name>", summary: "name of the server on this machine (default: its host)" },
  ],
  examples: [
    "formsvc login https://forms.example.com",
    "formsvc login https://forms.example.com --scope endpoints:write",
  ],
  action: async (context, { name, scope, context: called }, [url]) => {
    const server = readServerAddress(url, "the server");
    const contextName = called ?? new URL(server).host;
    if (contextName === HERE || !/^[\w.:[\]-]{1,100}$/.test(contextName))
      return refuse(`--context: expected letters, digits, dots and hyphens, and not ${HERE}`);
    // Checked before somebody approves the login: a token that cannot be stored would be lost.
    writeContexts(readContexts());
    const begun = await post(server, "/api/v1/login", {
      client_id: "formsvc",
      client_name: (name ?? machineName()).slice(0, 100),
      ...(scope !== null && { scope: scope.join(" ") }),
    });
    showCode(context, begun);
    const granted = await waitForToken(server, begun);
    const made = contextOf(contextName, server, granted);
    keep(made);
    const { token: _token, ...shown } = made;
    if (context.output.isJson)
      return context.output.jsonLine({ context: shown, scopes: String(granted["scope"]).split(" ") });
    return context.output.note(`logged in: commands go to ${server} from now on, as ${contextName}`);
  },
});

type Json = Readonly<Record<string, unknown>>;

function machineName(): string {
  try {
    return `${userInfo().username} on ${hostname()}`;
  } catch {
    return hostname();
  }
}

/** Shows the code whatever the options are, because nobody can go on without it. */
function showCode({ output }: CommandContext, begun: Json): void {
  const [code, address] = [textIn(begun, "user_code"), textIn(begun, "verification_uri_complete")];
  if (output.isJson)
    return output.jsonLine({
      user_code: code,
      verification_uri_complete: address,
      expires_in: begun["expires_in"],
    });
  output.line(plainText(`Open ${address}`));
  return output.line(plainText(`and approve it there if it shows the code ${code}`));
}

/** Asks until the login is approved. @throws failed if it is denied or takes too long */
async function waitForToken(server: string, begun: Json): Promise<Json> {
  const device = textIn(begun, "device_code");
  let seconds = intervalIn(begun);
  for (;;) {
    await sleep(seconds * 1000);
    const answer = await ask(server, "/api/v1/login/token", { grant_type: GRANT, device_code: device });
    if (answer.status === 200) return answer.body;
    const { error, message } = answer.body;
    if (error === "slow_down") seconds = Math.min(MAX_INTERVAL_SECONDS, seconds + SLOWER_SECONDS);
    else if (error === "access_denied" || error === "expired_token")
      throw new FormsvcError(
        "failed",
        `${error === "access_denied" ? "it was denied" : "nobody approved it in time"}: nothing was changed`,
      );
    else if (error !== "authorization_pending")
      throw new FormsvcError(
        "unavailable",
        `${server}: ${typeof message === "string" ? message : "an answer that is not known"}`,
      );
  }
}

function intervalIn({ interval }: Json): number {
  return typeof interval === "number" && interval >= 1
    ? Math.min(interval, MAX_INTERVAL_SECONDS)
    : SLOWER_SECONDS;
}

function contextOf(name: string, server: string, granted: Json): ServerContext {
  const token = granted["token"] as Json | undefined;
  const expires = token?.["expires_at"];
  return {
    name,
    server,
    token: textIn(granted, "access_token"),
    token_id: textIn(token ?? {}, "id"),
    expires_at: typeof expires === "string" ? expires : null,
  };
}

function textIn(answer: Json, name: string): string {
  const value = answer[name];
  if (typeof value === "string") return value;
  throw new FormsvcError("unavailable", `the server’s answer has no ${name}: is it a server of formsvc?`);
}

/** Stores a context and puts it in use. It replaces an earlier one of the same name. */
function keep(made: ServerContext): void {
  const others = readContexts().contexts.filter(({ name }) => name !== made.name);
  writeContexts({ in_use: made.name, contexts: [...others, made] });
}

/** @throws the error that the server answers */
async function post(server: string, path: string, body: Json): Promise<Json> {
  const answer = await ask(server, path, body);
  if (answer.status === 200) return answer.body;
  const { errorOf } = await import("../remote/remote-error.ts");
  throw errorOf(
    server,
    { statusCode: answer.status, headers: answer.headers },
    answer.isOurs ? answer.body : null,
  );
}

async function ask(server: string, path: string, body: Json) {
  const { sendTo, textOf } = await import("../remote/remote-request.ts");
  const answer = await sendTo(server, { method: "POST", path, body, waitMs: WAIT_MS });
  const read = parse(await textOf(server, answer));
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: read ?? {}, isOurs: read !== null };
}

function parse(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

const logout = command({
  usage: "logout",
  summary: "Revoke the token of the server that commands go to, and forget it here",
  notes:
    "With --server, it is the token of that server. If the server cannot be reached, formsvc context remove forgets the token here alone.",
  examples: ["formsvc logout", "formsvc logout --server https://forms.example.com"],
  action: async (context) => {
    const { server, output } = context;
    const contexts = readContexts();
    const known = contexts.contexts.find(
      ({ server: origin, token }) => origin === server?.origin && token === server.token,
    );
    if (server === null || known === undefined)
      throw new FormsvcError("not_found", "nobody is logged in; see: formsvc context list");
    await operate(context, ({ perform }) => perform(revokeOwnToken, {})).catch((error: unknown) => {
      // The token was revoked or has expired, so there is nothing left to revoke.
      if (!(error instanceof FormsvcError) || error.code !== "unauthorized") throw error;
    });
    writeContexts({
      in_use: contexts.in_use === known.name ? null : contexts.in_use,
      contexts: contexts.contexts.filter((each) => each !== known),
    });
    if (output.isJson) return output.json({ logged_out: known.name });
    return output.note(`logged out of ${known.server}: its token is revoked`);
  },
});
