import { PassThrough, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { READ_AHEAD_BYTES } from "../files/read-file.ts";
import { describeError, FormsvcError } from "../foundation/errors.ts";
import { shownError } from "../http/error-reply.ts";
import { fileHeaders } from "../http/file-reply.ts";
import { goneSignal } from "../http/connections/gone-signal.ts";
import type { Progress, StreamOperation } from "../operations/operation.ts";
import { type Door, performStream } from "../operations/perform.ts";
import { EXPORT_TYPES, type ExportFormat, partContent } from "../submissions/export/export-submissions.ts";
import type { saveFile } from "../submissions/files/file-operations.ts";
import { type Call, prefers } from "./call.ts";
import type { ApiParts } from "./parts.ts";
import { inputOfQuery } from "./read-input.ts";

/** Pause between two transactions of long work, in which posts can be stored. */
export const PAUSE_MS = 2;
const LINES = "application/x-ndjson";
/** Time between two searches for new parts of a stream that a client follows. */
export const FOLLOW_MS = 1000;
/** Time between two signs of life of a silent stream. Connections without bytes are often closed after a minute. */
const LIFE_MS = 25_000;

/**
 * Sends the parts of a stream as they are made: an export in its own format, everything else as lines of JSON. The stream ends when the
 * client leaves.
 */
export async function answerStream(
  { parts: { closing }, request, reply, door, params, query }: Call,
  operation: StreamOperation<ApiParts>,
): Promise<unknown> {
  const gone = AbortSignal.any([goneSignal(reply), closing]);
  const committed = (): Promise<void> => sleep(FOLLOW_MS, undefined, { signal: gone });
  const watched = { ...door, gone, parts: { ...door.parts, committed } };
  const input = inputOfQuery(operation, { params, query });
  const parts = await performStream(watched, operation, input);
  const isWhole = !prefers(request, "parts");
  if (isWhole && hasMember(operation, "bytes"))
    return answerFile(reply, parts as AsyncGenerator<z.output<typeof saveFile.output>>);
  // The parts of an export are joined. An archive has only bytes.
  const isExport = isWhole && (hasMember(operation, "text") || hasMember(operation, "base64"));
  const whole = hasMember(operation, "text") ? exportType(query) : ARCHIVE_TYPE;
  const type = isExport ? whole : LINES;
  const texts = contentOf(parts, isExport);
  const body = Readable.from(query.get("follow") === "true" ? withSignsOfLife(texts) : texts);
  // Otherwise nginx would hold lines back until its buffer is full.
  return reply.code(200).headers({ "content-type": type, "x-accel-buffering": "no" }).send(body);
}

const ARCHIVE_TYPE = "application/zip";

function exportType(query: URLSearchParams): string {
  return EXPORT_TYPES[(query.get("format") ?? "csv") as ExportFormat];
}

function hasMember({ output }: StreamOperation<ApiParts>, name: string): boolean {
  return output instanceof z.ZodObject && Object.hasOwn(output.shape, name);
}

/** Sends a file as its bytes, with headers that keep it from running anywhere. */
async function answerFile(
  reply: FastifyReply,
  parts: AsyncGenerator<z.output<typeof saveFile.output>>,
): Promise<FastifyReply> {
  const first = await parts.next();
  if (first.done === true) throw new FormsvcError("not_found", "there is no such file");
  const { file, bytes } = first.value;
  const body = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from(bytes, "base64");
    for await (const part of parts) yield Buffer.from(part.bytes, "base64");
  };
  reply.headers(fileHeaders(file)).header("content-length", file.size);
  return reply.code(200).send(Object.assign(Readable.from(body()), { heldBytes: READ_AHEAD_BYTES }));
}

/** Adds an empty line at the beginning and after every 25 silent seconds, so that no proxy takes the connection for dead. */
async function* withSignsOfLife(texts: AsyncGenerator<string | Buffer>): AsyncGenerator<string | Buffer> {
  yield "\n";
  let next = texts.next();
  try {
    for (;;) {
      const idle = new AbortController();
      const sign = sleep(LIFE_MS, null, { signal: idle.signal }).catch(() => null);
      // Also aborted when the client has left, because a timer that runs keeps the process of a stopped server alive.
      const step = await Promise.race([next, sign]).finally(() => idle.abort());
      if (step === null) yield "\n";
      else if (step.done === true) return;
      else {
        yield step.value;
        next = texts.next();
      }
    }
  } finally {
    // The pending step ends with the client, and nobody waits for it any more.
    next.catch(() => undefined);
    await texts.return(undefined);
  }
}

async function* contentOf(parts: AsyncGenerator, isExport: boolean): AsyncGenerator<string | Buffer> {
  for await (const part of parts) {
    const content = isExport ? partContent(part as { readonly text: string }) : `${JSON.stringify(part)}\n`;
    if (content.length > 0) yield content;
  }
}

export function wantsLines({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes(LINES) === true;
}

/**
 * Runs long work and answers a line of JSON for each step, `{"done","total"}`, and a last line with its `output` or its error. Work that
 * ends before the first step is answered like other work.
 *
 * @returns null if the answer was sent
 */
export async function workInLines(
  { reply, request, parts: { log } }: Call,
  work: (onProgress: Door<ApiParts>["onProgress"]) => Promise<unknown>,
): Promise<{ readonly output: unknown } | null> {
  const lines = new PassThrough();
  const begun = Promise.withResolvers<null>();
  const write = (line: object): void => void lines.write(`${JSON.stringify(line)}\n`);
  const onProgress = async (progress: Progress): Promise<void> => {
    begun.resolve(null);
    // A client that reads nothing misses steps, so that they do not fill the memory.
    if (!lines.writableNeedDrain) write(progress);
    await sleep(PAUSE_MS);
  };
  const ended = work(onProgress).then((output) => ({ output }));
  const first = await Promise.race([begun.promise, ended]);
  if (first !== null) return first;
  void ended
    .then(write, (thrown: unknown) => {
      const error =
        thrown instanceof FormsvcError
          ? thrown
          : new FormsvcError("internal", "long work failed", { cause: thrown });
      write(errorLine(shownError({ request, log }, error)));
    })
    .finally(() => lines.end());
  await reply.code(200).header("content-type", LINES).send(lines);
  return null;
}

function errorLine({ code, message, facts: { details, hint } }: FormsvcError): object {
  return {
    error: describeError(code).error,
    message,
    code,
    ...(details && { details }),
    ...(hint && { hint }),
  };
}
