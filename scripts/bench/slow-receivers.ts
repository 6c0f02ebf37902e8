import { createServer, type Server, type ServerResponse } from "node:http";
import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { addWebhooks } from "../../test/support/add-webhooks.ts";
import type { AttackRow } from "./address-attacks.ts";
import { median, type RunningServer } from "./processes.ts";
import { POST_BODY, type Workplace } from "./workplace.ts";

/** The time until a slow receiver answers, just below the time at which an attempt fails. */
const SLOW_MS = 9000;
const FORMS = 3;
/** The largest number of webhooks that one form can have. */
const WEBHOOKS_OF_A_FORM = 20;
const POSTS_OF_A_FORM = 3;

export const SLOW_RECEIVERS_ROW: AttackRow = {
  name: `${FORMS * WEBHOOKS_OF_A_FORM} webhooks of one account, whose receivers answer after ${SLOW_MS / 1000} s`,
  async prepare(place) {
    const accounts = await prepareTwoAccounts(place);
    return {
      othersKey: accounts.otherKey,
      settings: {},
      async start(server) {
        await accounts.attack(server);
        return accounts.notify(server);
      },
      close: () => accounts.close(),
    };
  },
};

interface Form {
  readonly id: string;
  readonly key: string;
}

/** One account with slow receivers, and another account whose receiver answers at once. */
interface TwoAccounts {
  /** The key of the other account's form without webhooks. */
  readonly otherKey: string;
  /** Posts to the forms of the account with slow receivers. */
  attack(server: RunningServer): Promise<void>;
  /**
   * Posts to the other account's form with a webhook until it is stopped. Then it says how long each webhook took after its post, in
   * milliseconds.
   */
  notify(server: RunningServer): () => Promise<string>;
  close(): void;
}

/** Prepares both accounts before the server starts. */
async function prepareTwoAccounts(place: Workplace): Promise<TwoAccounts> {
  const receivers: Server[] = [];
  const heard = new EventEmitter();
  const greedyWorkspace = addAccount(place, "greedy@example.com");
  const greedy = Array.from({ length: FORMS }, (_, index) =>
    addForm(place, greedyWorkspace, `Form ${index}`),
  );
  for (const { id } of greedy) {
    for (let index = 0; index < WEBHOOKS_OF_A_FORM; index += 1) {
      const slow = await listen(receivers, (response) => void setTimeout(() => response.end(), SLOW_MS));
      await addWebhook(place, id, slow);
    }
  }
  const otherWorkspace = addAccount(place, "other@example.com");
  const other = addForm(place, otherWorkspace, "Other");
  const fast = await listen(receivers, (response) => {
    response.end();
    heard.emit("webhook");
  });
  await addWebhook(place, other.id, fast);
  return {
    otherKey: addForm(place, otherWorkspace, "Quiet").key,
    async attack(server) {
      for (let post = 0; post < POSTS_OF_A_FORM; post += 1)
        for (const form of greedy) await postTo(server, form);
      await sleep(500);
    },
    notify(server) {
      const tookMs: number[] = [];
      const stopping = new AbortController();
      const ended = (async () => {
        while (!stopping.signal.aborted) {
          const startedAt = performance.now();
          const arrived = once(heard, "webhook");
          await postTo(server, other);
          await arrived;
          tookMs.push(performance.now() - startedAt);
          await sleep(50);
        }
      })();
      return async () => {
        stopping.abort();
        await ended;
        return `their webhooks: ${Math.round(median(tookMs))} ms, at most ${Math.round(Math.max(...tookMs))} ms`;
      };
    },
    close() {
      for (const receiver of receivers) {
        receiver.closeAllConnections();
        receiver.close();
      }
    },
  };
}

/** Makes an account, and returns the id of its workspace. */
function addAccount(place: Workplace, email: string): string {
  const made = JSON.parse(place.run("account", "create", email, "--json")) as { workspace: { id: string } };
  return made.workspace.id;
}

function addForm(place: Workplace, workspace: string, name: string): Form {
  const of = ["--workspace", workspace, "--schema", place.schemaFile, "--name", name];
  const made = place.run("endpoint", "create", ...of, "--json", "--quiet");
  const { endpoint, keys } = JSON.parse(made) as { endpoint: { id: string }; keys: { secret: string } };
  return { id: endpoint.id, key: keys.secret };
}

async function addWebhook({ db }: Workplace, endpointId: string, url: string): Promise<void> {
  const database = openDatabase(db, { busyTimeoutMs: 5000 });
  await database.transaction(() => addWebhooks(endpointId, url, 1));
  database.close();
}

async function listen(receivers: Server[], answer: (response: ServerResponse) => void): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => answer(response));
  });
  receivers.push(receiver);
  await new Promise<void>((resolve) => {
    receiver.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
}

async function postTo({ port }: RunningServer, { key }: Form): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const { status } = await fetch(`http://127.0.0.1:${port}/submit`, {
    method: "POST",
    headers,
    body: POST_BODY,
  });
  if (status !== 200) throw new Error(`a post was answered ${status}`);
}
