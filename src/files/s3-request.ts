import { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
import Agent from "undici/lib/dispatcher/agent.js";
import { abandon } from "./abandon-body.ts";
import { asFault, StoreFault } from "./store-fault.ts";

/** The address of the store, and the access to it. */
export interface S3Settings {
  /** The address with scheme, without a slash at the end. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** Put before the name of every object. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Whether the bucket is in the path instead of the host's name. */
  readonly pathStyle: boolean;
  readonly timeoutMs: number;
}

export interface S3Request {
  readonly method: "PUT" | "GET" | "HEAD" | "DELETE";
  /** The name of the object, without the prefix. */
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The SHA-256 of the body, in hexadecimal. */
  readonly sha256?: string;
  /** Called for each attempt, because the body must be read anew. */
  readonly body?: () => AsyncIterable<Buffer>;
  /** Whether the caller tries again later by itself: then there is only one attempt, of at most {@link HASTY_MS}. */
  readonly isHasty?: boolean;
}

const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** The largest number of bytes that are read of an answer with an error. */
const MAX_FAULT_BYTES = 4096;
/** The longest time of a whole request, as a multiple of `timeoutMs`, the longest time without progress. */
const MAX_SILENCES = 10;
/** The longest time of a hasty request: a server that stops waits for it. */
const HASTY_MS = 5000;
const KEEP_ALIVE_MS = 4000;
/** Pauses before the second and the third attempt of a request that failed at once. */
const RETRY_MS: readonly number[] = [100, 400];
/** Errors of a connection that the store probably closed before it read the request. */
const CLOSED = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
const BUSY = new Set([429, 500, 502, 503, 504]);

/** Sends signed requests. Does not follow redirects. */
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
      // `Silence` limits the time from the first byte of the request to the head of the answer.
      headersTimeout: 0,
      bodyTimeout: timeoutMs,
    });
    this.#base = baseOf(settings);
  }

  /**
   * Sends a request, and returns the answer with its body unread. A request that fails at once is sent up to three times.
   *
   * @param statuses the statuses that are no fault; with any other one it throws. @throws StoreFault
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

/** Aborts a request if the store accepts no bytes for too long, or accepts them so slowly that the whole takes too long. */
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

/** Makes a fault of an answer with an error. */
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

/** Reads the beginning of a body, as far as it is needed to see what is wrong. */
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
    // The status says enough without the body.
  }
  return Buffer.concat(parts).subarray(0, MAX_FAULT_BYTES).toString("latin1");
}
