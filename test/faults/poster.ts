import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";

/** What became of one post. */
export interface Post {
  readonly n: number;
  readonly idempotencyKey: string | null;
  /** The submission's id if it was acknowledged. */
  id: string | null;
  /** The last answer's status; null if the connection ended without one. */
  status: number | null;
  retryAfter: string | null;
  /** From the first byte sent to the answer, in milliseconds. */
  ms: number;
}

export interface PosterTarget {
  port: number;
  readonly key: string;
  /** The pause of a connection after an answer of 200, for a load that leaves the processor to others; absent for none. */
  readonly pauseMs?: number;
  /** What each post carries beside its number. */
  readonly filling?: readonly number[];
  /** What every fifth post carries as its file `cv`, by its number: it is a form then. */
  readonly fileOf?: (n: number) => Buffer;
}

export interface Poster {
  /** Every post made so far. */
  readonly posts: readonly Post[];
  /** Ends after the posts under way. */
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";
/** How long a connection that is refused waits before it tries again: dozens of them would take the processor from the server that starts. */
const PAUSE_MS = 30;

/**
 * Posts numbers that are never used twice, on `connections` connections as fast as they are answered, every second post
 * with an `Idempotency-Key`, until stopped. Without `keepAlive` each post makes a connection of its own.
 */
export function startPosting(
  target: PosterTarget,
  connections: number,
  numbers: () => number,
  keepAlive = true,
): Poster {
  const agent = new Agent({ keepAlive, maxSockets: connections });
  const posts: Post[] = [];
  const over = new AbortController();
  const work = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const n = numbers();
      const post = newPost(n, n % 2 === 0 ? `key-${n}` : null);
      posts.push(post);
      await send(target, post, agent);
      const pauseMs = post.status === 200 ? target.pauseMs : PAUSE_MS;
      if (pauseMs !== undefined) await sleep(pauseMs);
    }
  };
  const working = Promise.all(Array.from({ length: connections }, work));
  return {
    posts,
    async stop() {
      over.abort();
      await working;
      agent.destroy();
    },
  };
}

export function newPost(n: number, idempotencyKey: string | null): Post {
  return { n, idempotencyKey, id: null, status: null, retryAfter: null, ms: 0 };
}

/** Whether a post carries a file if its target asks for some. */
export function hasFile({ n }: Pick<Post, "n">): boolean {
  return n % 5 === 0;
}

function bodyOf({ filling, fileOf }: PosterTarget, post: Post): { type: string; body: Buffer } {
  const { n } = post;
  if (fileOf === undefined || !hasFile(post))
    return { type: "application/json", body: Buffer.from(JSON.stringify({ n, filling })) };
  const part = (name: string): string => `--part\r\nContent-Disposition: form-data; name=${name}`;
  const head = `${part('"n"')}\r\n\r\n${n}\r\n${part('"cv"; filename="cv.pdf"')}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), fileOf(n), Buffer.from("\r\n--part--\r\n")]);
  return { type: "multipart/form-data; boundary=part", body };
}

/** Sends a post, or sends it again, and notes the result. */
export function send(target: PosterTarget, post: Post, agent: Agent): Promise<void> {
  const { type, body } = bodyOf(target, post);
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const done = (status: number | null, text: string, retryAfter: string | null): void => {
      post.status = status;
      post.retryAfter = retryAfter;
      post.ms = performance.now() - startedAt;
      if (status === 200) post.id = (JSON.parse(text) as { submission_id: string }).submission_id;
      resolve();
    };
    const sent = request({
      host: HOST,
      port: target.port,
      method: "POST",
      path: "/submit",
      agent,
      headers: {
        authorization: `Bearer ${target.key}`,
        "content-type": type,
        "content-length": body.length,
        ...(post.idempotencyKey !== null && { "idempotency-key": post.idempotencyKey }),
      },
    });
    sent.on("error", () => done(null, "", null));
    sent.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      // An answer that breaks off was no acknowledgement.
      answer.on("error", () => done(null, "", null));
      answer.on("end", () => {
        done(answer.complete ? (answer.statusCode ?? 0) : null, text, answer.headers["retry-after"] ?? null);
      });
    });
    sent.end(body);
  });
}

/** Sends every given post that has no acknowledgement, again and again until it has one. */
export async function sendUntilAcknowledged(target: PosterTarget, posts: readonly Post[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const open = posts.filter(({ id }) => id === null);
  const work = async (): Promise<void> => {
    for (let post = open.pop(); post !== undefined; post = open.pop()) {
      do {
        await send(target, post, agent);
        if (post.id === null) await sleep(PAUSE_MS);
      } while (post.id === null);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  agent.destroy();
}

/** Counts up from 1. */
export function countUp(): () => number {
  let n = 0;
  return () => (n += 1);
}

/** Sends this number of posts at once, each on a connection of its own and with a key, and waits for all. */
export async function sendBurst(target: PosterTarget, numbers: () => number, count: number): Promise<Post[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const posts = Array.from({ length: count }, () => {
    const n = numbers();
    return newPost(n, `key-${n}`);
  });
  await Promise.all(posts.map((post) => send(target, post, agent)));
  agent.destroy();
  return posts;
}

export function expectTaken(posts: readonly Post[]): void {
  expect([...new Set(posts.map(({ status }) => status))]).toEqual([200]);
}
