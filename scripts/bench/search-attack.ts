import { connect, type Socket } from "node:net";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { startSession } from "../../src/sessions/session.ts";
import { listAccounts } from "../../src/workspaces/workspace-store.ts";
import { submissionAdder } from "../../test/support/add-submission.ts";
import type { AttackRow } from "./address-attacks.ts";
import type { RunningServer } from "./processes.ts";

/** The attack: the inbox of one account has the texts that take longest to search, and the account searches for a text that none has. */
const SUBMISSIONS = 210;
const TEXT = "a".repeat(64_000);
const SOUGHT = `${"a".repeat(199)}b`;
const COMMAND_WAIT_MS = 60_000;
/** The interval at which searches that were answered are sent again. */
const AGAIN_MS = 250;

export const SEARCH_ROWS: readonly AttackRow[] = [8, 32].map((count) => ({
  name: `${count} searches at once by one account, in ${SUBMISSIONS} posts of 64 KB`,
  async prepare({ db, schemaFile, run }) {
    const made = run("endpoint", "create", "--name", "Form", "--schema", schemaFile, "--json", "--quiet");
    const { endpoint, keys } = JSON.parse(made) as { endpoint: { id: string }; keys: { secret: string } };
    const cookie = fillInbox(db, endpoint.id);
    return {
      othersKey: keys.secret,
      settings: {},
      async start(server) {
        const stop = searchWith(count, server, cookie);
        return async () => {
          stop();
          return "";
        };
      },
      close: () => undefined,
    };
  },
}));

/** Fills an endpoint, signs in the first account, and returns its cookie. */
function fillInbox(file: string, endpointId: string): string {
  const db = openDatabase(file, { busyTimeoutMs: COMMAND_WAIT_MS });
  try {
    const add = submissionAdder(db);
    const now = Date.now();
    for (let index = 0; index < SUBMISSIONS; index += 1)
      add({ endpointId, data: { message: TEXT }, createdAt: now + index });
    const [account] = db.now(() => listAccounts());
    const browser = { userAgent: "Bench", ipAddress: null };
    return `formsvc-session=${db.now(() => startSession(account?.id ?? "", browser, now)).cookie}`;
  } finally {
    db.close();
  }
}

/** Keeps this number of searches open, until it is stopped. */
function searchWith(count: number, server: RunningServer, cookie: string): () => void {
  const open = (): Socket => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
    socket.on("data", () => void socket.destroy());
    socket.write(
      `GET /dashboard?q=${SOUGHT} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
    );
    return socket;
  };
  const sockets = Array.from({ length: count }, open);
  const timer = setInterval(() => {
    for (const [index, socket] of sockets.entries()) if (socket.destroyed) sockets[index] = open();
  }, AGAIN_MS);
  return () => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  };
}
