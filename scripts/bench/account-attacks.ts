import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { SMTPServer } from "smtp-server";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { startSession } from "../../src/sessions/session.ts";
import { listAccounts } from "../../src/workspaces/workspace-store.ts";
import { addWebhooks } from "../../test/support/add-webhooks.ts";
import type { Attack, AttackRow } from "./address-attacks.ts";
import type { RunningServer } from "./processes.ts";
import type { Workplace } from "./workplace.ts";

/** The number of accounts that load the dashboard. None of them is an operator. */
const ACCOUNTS = 6;
/** The time that each account waits between two requests. */
const ADD_PAUSE_MS = 400;
const TEST_PAUSE_MS = 32;
const VICTIM = "victim@example.com";
/** The number of letters for a new password that one address gets in an hour. */
const RESETS = 3;
const PATIENCE_MS = 30_000;

export const RECIPIENT_ROW: AttackRow = {
  name: `${ACCOUNTS} accounts add ${perSecond(ADD_PAUSE_MS)} recipients a second`,
  prepare: prepareRecipients,
};
export const TEST_ROW: AttackRow = {
  name: `${ACCOUNTS} accounts press "Send a test" up to ${perSecond(TEST_PAUSE_MS)} times a second`,
  prepare: prepareTests,
};

interface Stranger {
  readonly cookie: string;
  readonly endpointId: string;
}

/** Prepares an attack: six accounts add recipients, and another person asks for a new password three times. */
async function prepareRecipients(place: Workplace): Promise<Attack> {
  const othersKey = addForm(place);
  const strangers = await addStrangers(place);
  place.run("account", "create", VICTIM);
  const toVictim: number[] = [];
  let asked = 0;
  let waited: Promise<number[]> | null = null;
  const mail = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, callback) {
      stream.resume().on("end", () => callback(null, "queued"));
      if (session.envelope.rcptTo.some(({ address }) => address === VICTIM)) toVictim.push(performance.now());
      else asked += 1;
    },
  });
  mail.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    mail.listen(0, "127.0.0.1", resolve);
  });
  const { port } = mail.server.address() as AddressInfo;
  return {
    othersKey,
    settings: {
      FORMSVC_SERVER_BASE_URL: "https://forms.example.com",
      FORMSVC_MAIL_HOST: "127.0.0.1",
      FORMSVC_MAIL_PORT: String(port),
      FORMSVC_MAIL_FROM: "forms@example.com",
    },
    async start(server) {
      let number = 0;
      const stop = pressAll(strangers, ADD_PAUSE_MS, (stranger) => {
        const form = { endpoint: stranger.endpointId, address: `r${(number += 1)}@example.org` };
        return post(server, "/recipients/new", stranger.cookie, {
          ...form,
          digest: "each",
          max_spam_score: "50",
        });
      });
      // The wait runs only once, because the number of these letters is limited by the hour.
      waited ??= waitForResets(server, toVictim);
      const resets = waited;
      return async () => {
        const tookMs = await resets;
        await stop();
        return `${asked} letters to strangers; those for a new password: at most ${Math.round(Math.max(...tookMs))} ms`;
      };
    },
    close: () => mail.close(),
  };
}

/** Prepares an attack: six accounts press "Send a test" on a webhook. */
async function prepareTests(place: Workplace): Promise<Attack> {
  const othersKey = addForm(place);
  let received = 0;
  const receiver = createServer((request, response) => {
    received += 1;
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((resolve) => {
    receiver.listen(0, "127.0.0.1", resolve);
  });
  const strangers = await addStrangers(place);
  const webhooks = await addWebhooksOf(place, strangers, receiver);
  return {
    othersKey,
    settings: {},
    async start(server) {
      const stop = pressAll(strangers, TEST_PAUSE_MS, ({ cookie, endpointId }) =>
        post(server, `/webhooks/${webhooks.get(endpointId) ?? ""}/test`, cookie, {}),
      );
      return async () => {
        await stop();
        return `${received} were sent`;
      };
    },
    close: () => receiver.close(),
  };
}

/** Adds a form of the first account and returns its secret key. */
function addForm(place: Workplace): string {
  const created = ["endpoint", "create", "--name", "Form", "--schema", place.schemaFile, "--json", "--quiet"];
  return (JSON.parse(place.run(...created)) as { keys: { secret: string } }).keys.secret;
}

async function waitForResets(server: RunningServer, arrived: readonly number[]): Promise<number[]> {
  const tookMs: number[] = [];
  for (let reset = 0; reset < RESETS; reset += 1) {
    await sleep(1500);
    const startedAt = performance.now();
    await post(server, "/lost-password", "", { email: VICTIM });
    while (arrived.length === reset && performance.now() - startedAt < PATIENCE_MS) await sleep(5);
    tookMs.push((arrived[reset] ?? Infinity) - startedAt);
  }
  return tookMs;
}

async function addStrangers(place: Workplace): Promise<Stranger[]> {
  const made = Array.from({ length: ACCOUNTS }, (_, number) => {
    const email = `stranger${number}@example.com`;
    const { workspace } = JSON.parse(place.run("account", "create", email, "--json")) as {
      workspace: { id: string };
    };
    const of = ["--workspace", workspace.id, "--schema", place.schemaFile, "--name", `Form ${number}`];
    const { endpoint } = JSON.parse(place.run("endpoint", "create", ...of, "--json", "--quiet")) as {
      endpoint: { id: string };
    };
    return { email, endpointId: endpoint.id };
  });
  const db = openDatabase(place.db, { busyTimeoutMs: PATIENCE_MS });
  const accounts = db.now(() => listAccounts());
  const browser = { userAgent: "Bench", ipAddress: null };
  const strangers = made.map(({ email, endpointId }) => {
    const id = accounts.find((account) => account.email === email)?.id ?? "";
    const { cookie } = db.now(() => startSession(id, browser, Date.now()));
    return { cookie: `formsvc-session=${cookie}`, endpointId };
  });
  db.close();
  return strangers;
}

/** Adds a webhook for each stranger, and returns their ids by endpoint. */
async function addWebhooksOf(
  place: Workplace,
  strangers: readonly Stranger[],
  receiver: Server,
): Promise<ReadonlyMap<string, string>> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const db = openDatabase(place.db, { busyTimeoutMs: PATIENCE_MS });
  for (const { endpointId } of strangers) await db.transaction(() => addWebhooks(endpointId, url, 1));
  const rows = db.prepare("SELECT endpoint_id, id FROM recipient").raw().all() as [string, string][];
  db.close();
  return new Map(rows);
}

function perSecond(pauseMs: number): number {
  return Math.round((ACCOUNTS * 1000) / pauseMs);
}

/** Lets each stranger press again, some time after each answer. */
function pressAll(
  strangers: readonly Stranger[],
  pauseMs: number,
  press: (stranger: Stranger) => Promise<unknown>,
): () => Promise<void> {
  const stopping = new AbortController();
  const ended = strangers.map(async (stranger) => {
    while (!stopping.signal.aborted) {
      await press(stranger);
      await sleep(pauseMs);
    }
  });
  return async () => {
    stopping.abort();
    await Promise.all(ended);
  };
}

async function post(
  { port }: RunningServer,
  path: string,
  cookie: string,
  form: Record<string, string>,
): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/dashboard${path}`, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin", cookie },
    body: new URLSearchParams(form),
    redirect: "manual",
  });
  await answer.arrayBuffer();
}
