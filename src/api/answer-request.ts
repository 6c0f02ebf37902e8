import { hash } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { fileHeaders } from "../http/file-reply.ts";
import { READ_AHEAD_BYTES } from "../files/read-file.ts";
import { goneSignal } from "../http/gone-signal.ts";
import { describeError, FormsvcError } from "../foundation/errors.ts";
import { requestFailed } from "../foundation/events.ts";
import type { TokenActor } from "../operations/actor.ts";
import {
  claimKey,
  keepAnswer,
  type KeptAnswer,
  type KeyedRequest,
  recallAnswer,
  AnsweredBefore,
} from "../operations/kept-answers.ts";
import { hasSecrets, withoutSecrets } from "../operations/marks.ts";
import type { Operation, Progress, StreamOperation } from "../operations/operation.ts";
import { type Door, type Guard, perform, performStream, stepsOf } from "../operations/perform.ts";
import { EXPORT_TYPES, type ExportFormat, partContent } from "../submissions/export/export-submissions.ts";
import type { ReceivedFile } from "../submissions/import/import-spool.ts";
import type { saveFile } from "../submissions/files/file-operations.ts";
import { type Chosen, refuseDryRun } from "./dry-run.ts";
import { changedSince, entityTag, namesTag } from "./entity-tag.ts";
import { reachNamed } from "./require-role.ts";
import { isList, pageOf, readPaging } from "./list-pages.ts";
import { type ApiParts, NO_FILE, type ServedParts } from "./parts.ts";
import { fileOf } from "./file-bodies.ts";
import { ownerOf } from "./token-owner.ts";
import { inputOfBody, inputOfQuery } from "./read-input.ts";
import { type ApiRoute, ROUTES } from "./routes.ts";

/** What a server hands to the API, while it is open. */
type OpenParts = ServedParts & {
  /** Aborted when the server stops: what follows without end ends then. */
  readonly closing: AbortSignal;
};

/** One request that was let in. */
interface Call {
  readonly route: ApiRoute;
  readonly parts: OpenParts;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly door: Door<ApiParts>;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Time between two transactions of long work, in which posts are stored. */
const PAUSE_MS = 2;
const LINES = "application/x-ndjson";
/** Time between two looks for what a client follows. */
const FOLLOW_MS = 1000;
/** Time between two signs of life of a stream that has nothing to say; connections without bytes end after a minute. */
const LIFE_MS = 25_000;

/** Does what a route says, and answers. Rights were looked at before the body was read. */
export async function answerRequest(
  { route, query }: Chosen,
  parts: OpenParts,
  { actor, request, reply }: { actor: TokenActor; request: FastifyRequest; reply: FastifyReply },
): Promise<unknown> {
  const { db, config, clock, onChange } = parts;
  const call: Call = {
    route,
    parts,
    request,
    reply,
    door: {
      db,
      config,
      now: clock.now(),
      actor,
      parts: { ...parts, source: NO_FILE, committed: () => sleep(FOLLOW_MS) },
      onChange,
      onProgress: () => sleep(PAUSE_MS),
    },
    params: request.params as Record<string, string>,
    query,
  };
  try {
    if (route.operation.kind === "stream") return await answerStream(call, route.operation);
    if (route.method === "GET") return await answerRead(call, route.operation);
    if (!route.takesFile) return await answerWrite(call, route.operation, null);
    return await answerFileWork(call, route.operation);
  } catch (error) {
    if (error instanceof FormsvcError && describeError(error.code).status === 400) await refuseUnseen(call);
    throw error;
  }
}

/** What is not there, or not allowed to the role, is answered as such before anything is said of the input. @throws not_found, forbidden */
async function refuseUnseen({ route, door, params }: Call): Promise<void> {
  const named = reachNamed(route, door, params);
  if (named !== null) await door.db.read(named);
}

async function answerRead(call: Call, operation: Operation<ApiParts>): Promise<unknown> {
  const { route, reply, request, params, query } = call;
  const door = { ...call.door, gone: goneSignal(reply) };
  if (isList(operation)) {
    const paging = readPaging(operation, { params, query });
    return pageOf(operation, paging, await perform(door, operation, paging.input));
  }
  const shown = await perform(door, operation, inputOfQuery(operation, { params, query }));
  if (route.shownBy !== operation) return shown;
  const tag = entityTag(operation, shown);
  reply.header("etag", tag);
  const known = request.headers["if-none-match"];
  if (known === undefined || !namesTag(known, tag)) return shown;
  return reply.code(304).send();
}

/**
 * The parts of a stream as they are made: an export as what it is, all else as lines of JSON. It ends when the client goes.
 */
async function answerStream(
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
  // An export is what its parts make together; of an archive they are bytes alone.
  const isExport = isWhole && (hasMember(operation, "text") || hasMember(operation, "base64"));
  const whole = hasMember(operation, "text") ? exportType(query) : ARCHIVE_TYPE;
  const type = isExport ? whole : LINES;
  const texts = contentOf(parts, isExport);
  const body = Readable.from(query.get("follow") === "true" ? withSignsOfLife(texts) : texts);
  // Nginx would keep lines back until a buffer is full.
  return reply.code(200).headers({ "content-type": type, "x-accel-buffering": "no" }).send(body);
}

/** The media type of an archive. */
const ARCHIVE_TYPE = "application/zip";

function exportType(query: URLSearchParams): string {
  return EXPORT_TYPES[(query.get("format") ?? "csv") as ExportFormat];
}

function hasMember({ output }: StreamOperation<ApiParts>, name: string): boolean {
  return output instanceof z.ZodObject && Object.hasOwn(output.shape, name);
}

/** A file as its bytes, under headers with which it runs nowhere. */
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

/** Whether a client asked for a form of the answer by the header `Prefer` (RFC 7240). */
function prefers({ headers }: FastifyRequest, wanted: string): boolean {
  const said = [headers["prefer"] ?? []].flat().join(",");
  return said.split(",").some((each) => each.trim().toLowerCase() === wanted);
}

/** An empty line at once and whenever nothing came for 25 seconds, so that nobody on the way takes the connection for dead. */
async function* withSignsOfLife(texts: AsyncGenerator<string | Buffer>): AsyncGenerator<string | Buffer> {
  yield "\n";
  let next = texts.next();
  try {
    for (;;) {
      const idle = new AbortController();
      const sign = sleep(LIFE_MS, null, { signal: idle.signal }).catch(() => null);
      // Also when the client has gone: a timer that is left keeps the process of a server that has stopped.
      const step = await Promise.race([next, sign]).finally(() => idle.abort());
      if (step === null) yield "\n";
      else if (step.done === true) return;
      else {
        yield step.value;
        next = texts.next();
      }
    }
  } finally {
    // What it waits for ends with the client, and nobody listens to it any more.
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

/** The file is there until the work has ended, which may be after the client has left. */
async function answerFileWork(call: Call, operation: Operation<ApiParts>): Promise<unknown> {
  const file = fileOf(call.request);
  try {
    const { door } = call;
    return await answerWrite(
      { ...call, door: { ...door, parts: { ...door.parts, source: file } } },
      operation,
      file,
    );
  } finally {
    await file.closeUnused();
  }
}

async function answerWrite(
  call: Call,
  operation: Operation<ApiParts>,
  file: ReceivedFile | null,
): Promise<unknown> {
  const { route, reply, request, door, params, query } = call;
  const { status } = route;
  refuseDryRun(call);
  const body = Buffer.isBuffer(request.body) ? request.body : null;
  const keyed = readKey(call, file === null ? body : file.sha256);
  if (keyed !== null) {
    const kept = await door.db.read(() => recallAnswer(keyed, door.now));
    if (kept !== null) return repeat(call, kept);
  }
  const input =
    route.method === "DELETE" || route.takesFile
      ? inputOfQuery(operation, { params, query })
      : inputOfBody(operation, { params, query, body });
  const work = (onProgress: Door<ApiParts>["onProgress"]): Promise<unknown> => {
    const begin = () =>
      performOnce({ ...call, operation, door: { ...door, ...(onProgress && { onProgress }) } }, input, keyed);
    return file === null ? begin() : file.use(begin);
  };
  try {
    const done = wantsLines(request)
      ? await workInLines(call, work)
      : { output: await work(door.onProgress) };
    if (done === null) return reply;
    const { output } = done;
    if (status === 204) {
      if (!prefers(request, "return=representation")) return reply.code(204).send();
      return reply.code(200).header("preference-applied", "return=representation").send(output);
    }
    const made = locationOf(route, output);
    if (made !== null) reply.header("location", made);
    return reply.code(status).send(output);
  } catch (error) {
    if (error instanceof AnsweredBefore) return repeat(call, error.kept);
    throw error;
  }
}

/** Keeps the answer in the transaction that does the work, so that a process that ends there does nothing twice. */
async function performOnce(
  {
    route: { shownBy, status },
    operation,
    door,
    request,
    params,
  }: Call & { readonly operation: Operation<ApiParts> },
  input: Record<string, unknown>,
  keyed: KeyedRequest | null,
): Promise<unknown> {
  const tag = request.headers["if-match"];
  const guard: Guard = function* () {
    if (keyed !== null) yield* claimKey(keyed, door.now);
    if (tag === undefined || shownBy === null) return;
    const shown = yield* stepsOf(door, shownBy, params)();
    if (!namesTag(tag, entityTag(shownBy, shown))) throw changedSince();
  };
  if (keyed === null) return perform(door, operation, input, guard);
  const keptOf = (output: unknown): KeptAnswer => ({
    status,
    answer: withoutSecrets(operation.output, output),
  });
  let last: unknown = null;
  const onOutcome: Door<ApiParts>["onOutcome"] = function* (output) {
    last = output;
    yield* keepAnswer(keyed, keptOf(output));
  };
  const output = await perform({ ...door, onOutcome }, operation, input, guard);
  // The last transaction of long work may have had another output than the whole.
  if (JSON.stringify(last) !== JSON.stringify(output))
    await door.db.transaction(() => keepAnswer(keyed, keptOf(output)));
  return output;
}

/** Null without an `Idempotency-Key`. @param body or its digest @throws invalid_request */
function readKey({ route, request, door }: Call, body: Buffer | null): KeyedRequest | null {
  const header = request.headers["idempotency-key"];
  if (header === undefined || route.method !== "POST" || route.operation.kind === "read") return null;
  if (typeof header !== "string" || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    const expected = "expected 1 to 255 visible ASCII characters";
    throw new FormsvcError("invalid_request", `The Idempotency-Key header: ${expected}.`, {
      details: { "Idempotency-Key": expected },
    });
  }
  const actor = door.actor as TokenActor;
  const asked = Buffer.concat([Buffer.from(`${request.url}\n`), body ?? Buffer.alloc(0)]);
  return {
    owner: ownerOf(actor),
    operation: route.operation.name,
    keyHash: hash("sha256", header, "buffer"),
    bodyHash: hash("sha256", asked, "buffer"),
  };
}

async function repeat({ route, reply, door }: Call, { status, answer }: KeptAnswer): Promise<FastifyReply> {
  // The first answer may be on the primary alone.
  await door.db.confirmReads();
  const isPart = hasSecrets(route.operation.output);
  return reply.code(status).send(isPart ? { ...(answer as object), secrets_shown: true } : answer);
}

function wantsLines({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes(LINES) === true;
}

/**
 * Does long work and answers a line of JSON for each step, `{"done","total"}`, and a last one with its `output` or its error. What ends
 * before the first step is answered like other work.
 *
 * @returns null if it is answered
 */
async function workInLines(
  { reply, request, parts: { log } }: Call,
  work: (onProgress: Door<ApiParts>["onProgress"]) => Promise<unknown>,
): Promise<{ readonly output: unknown } | null> {
  const lines = new PassThrough();
  const begun = Promise.withResolvers<null>();
  const write = (line: object): void => void lines.write(`${JSON.stringify(line)}\n`);
  const onProgress = async (progress: Progress): Promise<void> => {
    begun.resolve(null);
    // A client that takes nothing misses steps, and no memory is filled with them.
    if (!lines.writableNeedDrain) write(progress);
    await sleep(PAUSE_MS);
  };
  const ended = work(onProgress).then((output) => ({ output }));
  const first = await Promise.race([begun.promise, ended]);
  if (first !== null) return first;
  void ended
    .then(write, (thrown: unknown) => {
      const error = foreseen(thrown);
      if (error === null)
        requestFailed(log, { reqId: request.id, code: "internal" }, thrown, "long work failed");
      write(errorLine(error ?? new FormsvcError("internal")));
    })
    .finally(() => lines.end());
  await reply.code(200).header("content-type", LINES).send(lines);
  return null;
}

/** Null for what is told to the log alone. */
function foreseen(thrown: unknown): FormsvcError | null {
  return thrown instanceof FormsvcError && describeError(thrown.code).status < 500 ? thrown : null;
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

/** The address of what was made, if it has one. */
function locationOf({ status, path }: ApiRoute, output: unknown): string | null {
  const isShown = ROUTES.some(
    (each) => each.method === "GET" && each.path.replace(/:\w+$/, "") === `${path}/`,
  );
  if (status !== 201 || !isShown || typeof output !== "object" || output === null) return null;
  const [made] = Object.values(output) as [{ readonly id?: unknown } | undefined];
  return typeof made?.id === "string" ? `/api/v1${path}/${made.id}` : null;
}
