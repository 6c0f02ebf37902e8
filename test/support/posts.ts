import { setTimeout as sleep } from "node:timers/promises";
import SqliteDatabase from "better-sqlite3";
import { until } from "./until.ts";

/** A post that the example schema accepts and the spam filter scores with 0. */
export const examplePost = { name: "Ada", email: "ada@example.org", message: "Are you open on Sunday?" };

/** Posts a form, and returns the answer, whatever it is. */
export function tryPost(
  url: string,
  key: string,
  body: unknown = examplePost,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Posts a form, which must be accepted, and returns the id in the acknowledgement. */
export async function post(
  url: string,
  key: string,
  data: Record<string, unknown> = examplePost,
): Promise<string> {
  return idOf(await tryPost(url, key, data));
}

/**
 * Sends a request again as long as the server answers 503. On a busy machine, a server may be without contact to its PostgreSQL database
 * for a second.
 */
export function patiently(send: () => Promise<Response>): Promise<Response> {
  return until(async () => {
    const answer = await send();
    return answer.status === 503 ? null : answer;
  });
}

/** Posts a form, which must be accepted, as {@link patiently} does. Returns the id. */
export async function postPatiently(url: string, key: string, data: unknown = examplePost): Promise<string> {
  return idOf(await patiently(() => tryPost(url, key, data)));
}

async function idOf(answer: Response): Promise<string> {
  const body = (await answer.json()) as { submission_id?: string };
  if (body.submission_id === undefined) throw new Error(`answered ${answer.status}: ${JSON.stringify(body)}`);
  return body.submission_id;
}

/** The pause of a sender after each answer. Without it, senders would take the processor from what is tried beside them. */
const PAUSE_MS = 5;

/** Posts from many senders at once, until `stop` is called. `acknowledged` has the ids in the order of the acknowledgements. */
export function postForever(
  url: string,
  key: string,
  senders = 8,
  send: (url: string, key: string) => Promise<string> = post,
): { acknowledged: string[]; stop(): Promise<void> } {
  const acknowledged: string[] = [];
  const state = { stopped: false };
  const sending = Array.from({ length: senders }, async () => {
    while (!state.stopped) {
      acknowledged.push(await send(url, key));
      await sleep(PAUSE_MS);
    }
  });
  return {
    acknowledged,
    async stop() {
      state.stopped = true;
      await Promise.all(sending);
    },
  };
}

/** Reads the ids of the submissions in a database file. */
export function storedIds(file: string): Set<string> {
  const connection = new SqliteDatabase(file, { readonly: true });
  try {
    return new Set(connection.prepare("SELECT id FROM submission").pluck().all() as string[]);
  } finally {
    connection.close();
  }
}
