import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

/** Sends posts of other clients from its own process, so that the attacker's process does not delay them. */
export interface OtherPosts {
  /** Posts for some seconds with four clients. Each post has a new connection. */
  send(request: PostRequest): Promise<readonly Posted[]>;
  close(): void;
}

export interface Posted {
  readonly isTaken: boolean;
  readonly ms: number;
}

interface PostRequest {
  readonly port: number;
  readonly seconds: number;
  /** A whole HTTP request. */
  readonly text: string;
}

const CLIENTS = 4;
/** The time that a client waits for its answer. After it, the post counts as not accepted. */
const PATIENCE_MS = 10_000;

export function startOtherPosts(): OtherPosts {
  const child = fork(fileURLToPath(import.meta.url));
  return {
    async send(request) {
      child.send(request);
      const [posts] = (await once(child, "message")) as [readonly Posted[]];
      return posts;
    },
    close: () => child.disconnect(),
  };
}

if (import.meta.main) {
  process.on("message", (request: PostRequest) => {
    void sendFor(request).then((posts) => process.send?.(posts));
  });
}

async function sendFor({ port, seconds, text }: PostRequest): Promise<readonly Posted[]> {
  const posts: Posted[] = [];
  const endsAt = performance.now() + seconds * 1000;
  const client = async (): Promise<void> => {
    while (performance.now() < endsAt) posts.push(await post(port, text));
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return posts;
}

function post(port: number, text: string): Promise<Posted> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1").setTimeout(PATIENCE_MS);
    const end = (isTaken: boolean): void => {
      socket.destroy();
      resolve({ isTaken, ms: performance.now() - startedAt });
    };
    socket.on("data", (chunk) => end(chunk.toString().startsWith("HTTP/1.1 200")));
    for (const event of ["error", "close", "timeout"]) socket.on(event, () => end(false));
    socket.write(text);
  });
}
