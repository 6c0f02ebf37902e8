import { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
import Agent from "undici/lib/dispatcher/agent.js";
import { abandon } from "./abandon-body.ts";
import { asFault, StoreFault } from "./store-fault.ts";

/** Where the store is, and who asks it. */
export interface S3Settings {
  /** With scheme, without a slash at the end. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** Before the name of every object. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Whether the bucket stands in the path, and not in the host's name. */
  readonly pathStyle: boolean;
  readonly timeoutMs: number;
}

export interface S3Request {
  readonly method: "PUT" | "GET" | "HEAD" | "DELETE";
  /** Of the object, behind the prefix. */
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the body, in hexadecimal. */
  readonly sha256?: string;
  /** Called for each attempt. */
  readonly body?: () => AsyncIterable<Buffer>;
  /** Whether somebody else tries again later: then the store has {@link HASTY_MS} at most, and one attempt. */
  readonly isHasty?: boolean;
}

const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** Bytes of an answer that says what is wrong. */
const MAX_FAULT_BYTES = 4096;
/** Longest time of a request that goes on, as a multiple of the time that the store may be silent. */
const MAX_SILENCES = 10;
/** A server that stops waits so long. */
const HASTY_MS = 5000;
const KEEP_ALIVE_MS = 4000;
/** Waits before a request that failed at once is sent again. */
const RETRY_MS: readonly number[] = [100, 400];
/** A connection that the store closed before it read the request, as far as can be told. */
const CLOSED = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
const BUSY = new Set([429, 500, 502, 503, 504]);

/** Sends signed requests, and follows no redirect. */
export class S3Client {
  readonly #settings: S3Settings;
  readonly #agent: Agent;
  readonly #base: URL;

  constructor(settings: S3Settings) {
    this.#settings = settings;
    const { timeoutMs } = settings;
    this.#agent = new Agent({
      connect: { timeout: timeoutMs },
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // From the request's first byte to the answer's head, a timer of our own counts.
      headersTimeout: 0,
      bodyTimeout: timeoutMs,
    });
    this.#base = baseOf(settings);
  }

  /**
   * The answer to a request, with its body unread. One that fails at once is sent up to three times.
   *
   * @param statuses that are an answer; every other one is a fault. @throws StoreFault
   */
  async send(asked: S3Request, statuses: readonly number[]): Promise<Dispatcher.ResponseData> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await this.#sendOnce(asked);
        if (statuses.includes(answer.statusCode)) return answer;
        throw await faultOf(answer);
      } catch (error) {
        const wait = RETRY_MS[attempt];
        if (wait === undefined || asked.isHasty === true || !mayPass(error)) throw asFault(error);
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #sendOnce({
    method,
    name,
    headers,
    sha256,
    body,
    isHasty,
  }: S3Request): Promise<Dispatcher.ResponseData> {
    const { accessKeyId, secretAccessKey, region, prefix, timeoutMs } = this.#settings;
    const signer = new AwsV4Signer({
      method,
      url: new URL(this.#base.pathname + prefix + name, this.#base).href,
      headers: { ...headers, "x-amz-content-sha256": sha256 ?? EMPTY_SHA256 },
      accessKeyId,
      secretAccessKey,
      service: "s3",
      region,
    });
    const signed = await signer.sign();
    const silence = new Silence(isHasty === true ? Math.min(timeoutMs, HASTY_MS) : timeoutMs);
    try {
      return await request.call(this.#agent, {
        method,
        origin: signed.url.origin,
        path: signed.url.pathname,
        headers: Object.fromEntries(signed.headers),
        body: body === undefined ? null : Readable.from(silence.watch(body()), { objectMode: false }),
        signal: silence.signal,
      });
    } finally {
      silence.end();
    }
  }
}

/** Ends a request whose store takes nothing for too long, or takes a byte now and then. */
class Silence {
  readonly #controller = new AbortController();
  readonly #silent: NodeJS.Timeout;
  readonly #whole: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    const abort = (): void =>
      this.#controller.abort(new StoreFault(`no answer within ${timeoutMs} ms (files.s3.timeoutMs)`));
    this.#silent = setTimeout(abort, timeoutMs);
    this.#whole = setTimeout(abort, MAX_SILENCES * timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async *watch(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      this.#silent.refresh();
      yield part;
    }
    this.#silent.refresh();
  }

  end(): void {
    clearTimeout(this.#silent);
    clearTimeout(this.#whole);
  }
}

function baseOf({ endpoint, bucket, pathStyle }: S3Settings): URL {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/$/, "");
  if (!pathStyle) url.host = `${bucket}.${url.host}`;
  url.pathname = pathStyle ? `${path}/${bucket}/` : `${path}/`;
  return url;
}

/** Whether the same request may succeed a moment later. */
function mayPass(error: unknown): boolean {
  if (error instanceof StoreFault) return error.status !== null && BUSY.has(error.status);
  return CLOSED.has((error as NodeJS.ErrnoException).code ?? "");
}

/** Says what the store said. */
async function faultOf({ statusCode: status, body }: Dispatcher.ResponseData): Promise<StoreFault> {
  if (status >= 300 && status < 400) {
    abandon(body);
    const message = `answered ${status}, which leads elsewhere: check files.s3.endpoint, region and pathStyle`;
    return new StoreFault(message, { status });
  }
  const text = await startOf(body);
  const [, code = ""] = /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(text) ?? [];
  return new StoreFault(`answered ${status}${code === "" ? "" : ` (${code})`}`, { status, code });
}

/** As much of a body as says what is wrong; the rest is not read. */
async function startOf(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= MAX_FAULT_BYTES) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(parts).subarray(0, MAX_FAULT_BYTES).toString("latin1");
}
