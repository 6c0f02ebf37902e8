import { expect } from "vitest";
import type { Received } from "../support/receivers.ts";
import type { Post } from "./poster.ts";
import { sleep } from "./server.ts";

/** A delivery that a kill cut off is made again after its first pause of five seconds; others have none. */
const DELIVERY_PAUSE_MS = 200;
const DELIVERED_WITHIN_MS = 60_000;

/** The acknowledged ids that no message told, once there are none, or for a minute nothing came. */
export async function waitForDeliveries(
  posts: readonly Post[],
  received: readonly Received[],
): Promise<readonly string[]> {
  const missing = new Set(posts.flatMap(({ id }) => (id === null ? [] : [id])));
  let read = 0;
  for (let quietMs = 0; missing.size > 0 && quietMs < DELIVERED_WITHIN_MS; quietMs += DELIVERY_PAUSE_MS) {
    await sleep(DELIVERY_PAUSE_MS);
    if (read < received.length) quietMs = 0;
    for (const message of received.slice(read)) missing.delete(submissionOf(message));
    read = received.length;
  }
  return [...missing];
}

/** However often a submission is told, it is by one id and one body. */
export function expectStableIds(received: readonly Received[]): void {
  const told = new Map<string, string>();
  const changed = received.filter((message) => {
    const now = `${String(message.headers["webhook-id"])} ${message.body.toString()}`;
    const first = told.get(submissionOf(message)) ?? now;
    told.set(submissionOf(message), first);
    return first !== now;
  });
  expect(changed).toEqual([]);
}

function submissionOf(message: Received): string {
  return (JSON.parse(message.body.toString()) as { submission: { id: string } }).submission.id;
}
