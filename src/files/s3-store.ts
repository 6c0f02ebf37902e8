import { createHash } from "node:crypto";
import type { Dispatcher } from "undici";
import { FormsvcError } from "../foundation/errors.ts";
import { type ByteSource, chunksOf } from "./byte-source.ts";
import type { ByteRange, Expected, ObjectStore } from "./object-store.ts";
import { abandon } from "./abandon-body.ts";
import type { S3Client, S3Settings } from "./s3-request.ts";
import { asFault, StoreFault } from "./store-fault.ts";

/** Hears of requests that failed, and of the state of the store. */
export interface StoreObserver {
  onFailure(kind: RequestKind): void;
  /** Called when the store fails after it had worked. */
  onFault(fault: string): void;
  /** Called when the store works again after it had failed. */
  onRecovery(): void;
}

export const REQUEST_KINDS = ["put", "get", "delete"] as const;
type RequestKind = (typeof REQUEST_KINDS)[number];

export interface S3StoreParts {
  /** Called before the first request. @throws config_invalid */
  readonly settings: () => S3Settings;
  readonly takesNew: boolean;
  readonly observer: StoreObserver;
}

/** For this time after a failure, posts with files are refused before they are read. */
const AWAY_MS = 5000;
const AWAY_SECONDS = 10;
/** The largest number of bytes that are read of an answer whose body is not needed. */
const MAX_DUMPED_BYTES = 4096;
/** All probes use the same name, so that interrupted ones leave at most one object. */
const PROBE_NAME = "formsvc-probe";

/** Stores files as objects, by the protocol of S3. */
export class S3Store implements ObjectStore {
  readonly takesNew: boolean;
  readonly #parts: S3StoreParts;
  #client: Promise<S3Client> | null = null;
  #fault: { readonly message: string; readonly at: number } | null = null;

  constructor(parts: S3StoreParts) {
    this.#parts = parts;
    this.takesNew = parts.takesNew;
  }

  get fault(): string | null {
    return this.#fault?.message ?? null;
  }

  isAway(): boolean {
    return this.#fault !== null && performance.now() - this.#fault.at < AWAY_MS;
  }

  put(objectId: string, source: ByteSource, { size, sha256 }: Expected): Promise<void> {
    const headers = { "content-type": "application/octet-stream", "content-length": String(size) };
    const body = (): AsyncIterable<Buffer> => chunksOf(source);
    return this.#ask("put", async (client) => {
      await finish(await client.send({ method: "PUT", name: objectId, headers, sha256, body }, [200]));
      // The answer to the PUT is believed only if the store confirms it here.
      const head = await client.send({ method: "HEAD", name: objectId }, [200]);
      requireLength(head, size);
      await finish(head);
    });
  }

  async *read(objectId: string, range: ByteRange, expected: Expected): AsyncGenerator<Buffer> {
    const length = range.last - range.first + 1;
    const isWhole = length === expected.size;
    const headers = isWhole ? {} : { range: `bytes=${range.first}-${range.last}` };
    const answer = await this.#ask("get", async (client) => {
      const got = await client.send({ method: "GET", name: objectId, headers }, [isWhole ? 200 : 206]);
      requireLength(got, length);
      return got;
    });
    const parts = wholeParts(answer.body as AsyncIterable<Buffer>, length, isWhole ? expected.sha256 : null);
    try {
      yield* parts;
    } catch (error) {
      const fault = asFault(error);
      this.#failed("get", fault);
      throw refusalOf(fault);
    }
  }

  remove(objectId: string): Promise<void> {
    return this.#ask("delete", async (client) => {
      try {
        await finish(await client.send({ method: "DELETE", name: objectId, isHasty: true }, [200, 204]));
      } catch (error) {
        if (!asFault(error).isMissing) throw error;
      }
    });
  }

  async probe(): Promise<string | null> {
    const bytes = Buffer.from("formsvc");
    const source = { size: bytes.length, read: async () => bytes };
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const expected = { size: bytes.length, sha256 };
    try {
      await this.put(PROBE_NAME, source, expected);
      const read = this.read(PROBE_NAME, { first: 0, last: bytes.length - 1 }, expected);
      // Reads everything; throws if the bytes are wrong.
      while ((await read.next()).done !== true);
      await this.remove(PROBE_NAME);
      return null;
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      return error.cause instanceof Error ? error.cause.message : error.message;
    }
  }

  async close(): Promise<void> {
    await (await this.#client?.catch(() => null))?.close();
  }

  async #ask<Result>(kind: RequestKind, work: (client: S3Client) => Promise<Result>): Promise<Result> {
    const client = await this.#open();
    try {
      const result = await work(client);
      this.#succeeded();
      return result;
    } catch (error) {
      const fault = asFault(error);
      this.#failed(kind, fault);
      throw refusalOf(fault);
    }
  }

  /** Loads the client at the first request, so that a server without files does not need it. @throws config_invalid */
  #open(): Promise<S3Client> {
    this.#client ??= (async () => {
      const settings = this.#parts.settings();
      const { S3Client } = await import("./s3-request.ts");
      return new S3Client(settings);
    })();
    return this.#client;
  }

  #succeeded(): void {
    if (this.#fault === null) return;
    this.#fault = null;
    this.#parts.observer.onRecovery();
  }

  #failed(kind: RequestKind, fault: StoreFault): void {
    const { observer } = this.#parts;
    observer.onFailure(kind);
    if (!fault.isAway) return;
    const isNew = this.#fault === null;
    this.#fault = { message: fault.message, at: performance.now() };
    if (isNew) observer.onFault(fault.message);
  }
}

/** The error for whoever waits for a file. Only the operator should see what is wrong with the store. */
function refusalOf(fault: StoreFault): FormsvcError {
  if (!fault.isMissing) return storeIsAway(fault);
  return new FormsvcError("gone", "the bytes of this file are not in the store of files any more", {
    cause: fault,
  });
}

/** @param cause the fault, if there just was one */
export function storeIsAway(cause?: StoreFault): FormsvcError {
  return new FormsvcError("unavailable", "the store of files does not answer; try again shortly", {
    retryAfterSeconds: AWAY_SECONDS,
    cause,
  });
}

/** Reads the rest of an answer whose body is not needed, so that its connection can be used again. */
async function finish({ body }: Dispatcher.ResponseData): Promise<void> {
  await body.dump({ limit: MAX_DUMPED_BYTES });
}

/** Checks the length that an answer states; it may state none. @throws StoreFault if it is another */
function requireLength({ headers, body }: Dispatcher.ResponseData, length: number): void {
  const stated = headers["content-length"];
  if (stated === undefined || Number(stated) === length) return;
  abandon(body);
  throw new StoreFault(`has ${String(stated).slice(0, 20)} bytes of a file in place of ${length}`, {
    status: 200,
  });
}

/**
 * Yields the parts of a body. The last part is yielded only when the length and the SHA-256 of all bytes are right. @param sha256 null if
 * only a part of a file is read
 */
async function* wholeParts(
  body: AsyncIterable<Buffer>,
  length: number,
  sha256: string | null,
): AsyncGenerator<Buffer> {
  const digest = createHash("sha256");
  let bytes = 0;
  let held: Buffer | null = null;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > length) throw new StoreFault(`sent more than the ${length} bytes of a file`, { status: 200 });
    if (sha256 !== null) digest.update(part);
    if (held !== null) yield held;
    held = part;
  }
  if (bytes < length) throw new StoreFault(`sent ${bytes} of ${length} bytes of a file`, { status: 200 });
  if (sha256 !== null && digest.digest("hex") !== sha256)
    throw new StoreFault("sent other bytes of a file than were stored", { status: 200 });
  if (held !== null) yield held;
}
