import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { goneSignal } from "../http/connections/gone-signal.ts";
import { describeError, FormsvcError } from "../foundation/errors.ts";
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
import type { Operation } from "../operations/operation.ts";
import { type Door, type Guard, perform, stepsOf } from "../operations/perform.ts";
import type { ReceivedFile } from "../submissions/import/import-spool.ts";
import { answerStream, FOLLOW_MS, PAUSE_MS, wantsLines, workInLines } from "./answer-stream.ts";
import { type Call, type OpenParts, prefers } from "./call.ts";
import { type Chosen, refuseDryRun } from "./dry-run.ts";
import { changedSince, entityTag, namesTag } from "./entity-tag.ts";
import { reachNamed } from "./require-role.ts";
import { isList, pageOf, readPaging } from "./list-pages.ts";
import { type ApiParts, NO_FILE } from "./parts.ts";
import { fileOf } from "./file-bodies.ts";
import { countedAs } from "./token-owner.ts";
import { inputOfBody, inputOfQuery } from "./read-input.ts";
import { type ApiRoute, ROUTES } from "./routes.ts";

/** Runs the operation of a route and answers. The rights were checked before the body was read. */
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

/**
 * Throws if the row does not exist or the role is not enough. Called for a wrong input, because such a refusal comes before anything that
 * is said about the input.
 *
 * @throws not_found, forbidden
 */
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

/** Runs an operation that reads a file. The file is kept until the work has ended, which may be after the client has left. */
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
  const { route, reply, request, params, query } = call;
  // A write goes on when its client has gone.
  const door = operation.kind === "read" ? { ...call.door, gone: goneSignal(reply) } : call.door;
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
      : { output: await keepOpen(request, () => work(door.onProgress)) };
    return done === null ? reply : sendOutput(call, done.output);
  } catch (error) {
    if (error instanceof AnsweredBefore) return repeat(call, error.kept);
    throw error;
  }
}

/**
 * Runs work whose client waits for the answer. A connection on which nothing moves for a minute is closed, and while the server works nothing
 * can move.
 */
async function keepOpen<Result>(
  { raw: { socket } }: FastifyRequest,
  work: () => Promise<Result>,
): Promise<Result> {
  const { timeout = 0 } = socket;
  socket.setTimeout(0);
  try {
    return await work();
  } finally {
    socket.setTimeout(timeout);
  }
}

function sendOutput({ route, request, reply }: Call, output: unknown): FastifyReply {
  const { status } = route;
  if (status === 204) {
    if (!prefers(request, "return=representation")) return reply.code(204).send();
    return reply.code(200).header("preference-applied", "return=representation").send(output);
  }
  const made = locationOf(route, output);
  if (made !== null) reply.header("location", made);
  return reply.code(status).send(output);
}

/** Runs the operation, and stores the answer in the same transaction, so that a process that ends there does nothing twice. */
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
  // The last transaction of long work may have had an output that differs from the whole output.
  if (JSON.stringify(last) !== JSON.stringify(output))
    await door.db.transaction(() => keepAnswer(keyed, keptOf(output)));
  return output;
}

/** Null without an `Idempotency-Key`. @param body the body, or its digest @throws invalid_request */
function readKey({ route, request, door }: Call, body: Buffer | null): KeyedRequest | null {
  const header = request.headers["idempotency-key"];
  if (header === undefined || route.method !== "POST" || route.operation.kind === "read") return null;
  if (typeof header !== "string" || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    const expected = "expected 1 to 255 visible ASCII characters";
    throw new FormsvcError("invalid_request", `the Idempotency-Key header: ${expected}`, {
      details: { "Idempotency-Key": expected },
    });
  }
  const actor = door.actor as TokenActor;
  const asked = Buffer.concat([Buffer.from(`${request.url}\n`), body ?? Buffer.alloc(0)]);
  return {
    owner: countedAs(actor),
    operation: route.operation.name,
    keyHash: hash("sha256", keyText(actor, header), "buffer"),
    bodyHash: hash("sha256", asked, "buffer"),
  };
}

/**
 * What is limited to a part counts with its owner, and is answered nothing that was answered outside of that part. The workspace of a
 * service token is its owner already.
 */
function keyText({ account, reach }: TokenActor, key: string): string {
  const part = reach?.endpointId ?? (account === null ? null : (reach?.workspaceId ?? null));
  return part === null ? key : `${part} ${key}`;
}

async function repeat({ route, reply, door }: Call, { status, answer }: KeptAnswer): Promise<FastifyReply> {
  // It may be only the primary that has the first answer.
  await door.db.confirmReads();
  const isPart = hasSecrets(route.operation.output);
  return reply.code(status).send(isPart ? { ...(answer as object), secrets_shown: true } : answer);
}

/** The address of the new row, if it has one. */
function locationOf({ status, path }: ApiRoute, output: unknown): string | null {
  const isShown = ROUTES.some(
    (each) => each.method === "GET" && each.path.replace(/:\w+$/, "") === `${path}/`,
  );
  if (status !== 201 || !isShown || typeof output !== "object" || output === null) return null;
  const [made] = Object.values(output) as [{ readonly id?: unknown } | undefined];
  return typeof made?.id === "string" ? `/api/v1${path}/${made.id}` : null;
}
