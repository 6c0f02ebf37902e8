import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { MAX_LIMIT } from "../../api/cursor.ts";
import { isList } from "../../api/list-pages.ts";
import { ONLY_HEADER } from "../../api/narrow.ts";
import { type ApiRoute, ROUTES } from "../../api/routes.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { AnyOperation, Progress } from "../../operations/operation.ts";
import type { ImportedFile } from "../../submissions/import/imported-file.ts";
import { listAllWorkspaces } from "../../workspaces/workspace-operations.ts";
import { isAnswerOf } from "./check-answer.ts";
import type { ChosenServer } from "./choose-server.ts";
import { doneBeside } from "../open.ts";
import type { Terminal } from "../output/terminal.ts";
import type { Output } from "../output/output.ts";
import { errorOf, strangeAnswer, unlikeAsked } from "./remote-error.ts";
import { linesOf, sendTo, textOf } from "./remote-request.ts";

type Input = Readonly<Record<string, unknown>>;
type Json = Readonly<Record<string, unknown>>;

const LINES = "application/x-ndjson";
/** Times until an answer begins: of a read, of a change, and of a stream. */
const READ_MS = 10_000;
const WRITE_MS = 120_000;
const STREAM_MS = 600_000;

/**
 * Runs each operation at its address in the API of a server, with the token that was chosen for it.
 *
 * @param only the id of a workspace or endpoint if everything else is to be hidden; null for no restriction
 */
export function terminalAtDistance(
  server: ChosenServer,
  output: Pick<Output, "progress">,
  only: string | null = null,
): Terminal {
  const door = new DistantDoor(server, output, only);
  return {
    here: null,
    perform: async (operation, input, ..._parts) => (await door.perform(operation, input)) as never,
    stream: async (operation, input, ..._parts) => (await door.stream(operation, input)) as never,
    bring: async (operation, input, file) => (await door.perform(operation, input, file)) as never,
  };
}

class DistantDoor {
  readonly #origin: string;
  readonly #token: string;
  readonly #output: Pick<Output, "progress">;
  readonly #only: string | null;

  constructor({ origin, token }: ChosenServer, output: Pick<Output, "progress">, only: string | null) {
    if (token === null)
      throw new FormsvcError(
        "unauthorized",
        `nobody logged in to ${origin}: formsvc login ${origin}, or set FORMSVC_TOKEN`,
      );
    this.#origin = origin;
    this.#token = token;
    this.#output = output;
    this.#only = only;
  }

  /** @param file the body of the request, if the route takes a file */
  async perform(operation: AnyOperation, input: Input, file?: ImportedFile): Promise<unknown> {
    const output = await this.#outputOf(this.#routeOf(operation), input, file);
    if (!isAnswerOf(operation, output)) throw this.#strange();
    return output;
  }

  async #outputOf(route: ApiRoute, input: Input, file?: ImportedFile): Promise<unknown> {
    if (isList(route.operation)) return this.#readList(route, input);
    const answer = await this.#ask(route, input, file);
    if (isInLines(answer)) return this.#followWork(answer);
    const text = await textOf(this.#origin, answer);
    if (answer.statusCode === 204) throw unlikeAsked(this.#origin);
    return this.#read(text);
  }

  async stream(operation: AnyOperation, input: Input): Promise<AsyncGenerator> {
    const answer = await this.#ask(this.#routeOf(operation), input);
    if (isInLines(answer)) return this.#readParts(operation, linesOf(this.#origin, answer));
    answer.destroy();
    throw unlikeAsked(this.#origin);
  }

  async *#readParts(operation: AnyOperation, lines: AsyncGenerator<string>): AsyncGenerator {
    for await (const line of lines) {
      const part = parsed(line);
      if (!isAnswerOf(operation, part)) throw unlikeAsked(this.#origin);
      yield part;
    }
  }

  #read(text: string): Json {
    const value = parsed(text);
    if (value === null) throw this.#strange();
    return value;
  }

  #strange(): FormsvcError {
    return strangeAnswer(this.#origin, null);
  }

  /** Follows work that takes long: the answer has lines with the progress, and then one with the result. */
  async #followWork(answer: IncomingMessage): Promise<unknown> {
    for await (const line of linesOf(this.#origin, answer)) {
      const step: Partial<Progress> & Json = this.#read(line);
      if ("output" in step) return step["output"];
      if (typeof step["error"] === "string") throw errorOf(this.#origin, null, step);
      this.#output.progress(`${step.done}${step.total === null ? "" : ` of ${step.total}`} done`);
    }
    throw new FormsvcError("unavailable", `${this.#origin}: the answer broke off; look at what was done`);
  }

  /** Reads pages until it has the requested number of rows. A list that has no pages on the database's own machine is read whole. */
  async #readList(route: ApiRoute, input: Input): Promise<unknown> {
    const hasPages = Object.hasOwn(route.operation.input.shape, "cursor");
    const wanted = hasPages && typeof input["limit"] === "number" ? input["limit"] : Infinity;
    const data: unknown[] = [];
    let cursor = (input["cursor"] ?? null) as string | null;
    for (;;) {
      const limit = Math.min(MAX_LIMIT, wanted - data.length);
      const answer = await this.#ask(route, { ...input, limit, cursor });
      const {
        data: rows,
        next_cursor: next = null,
        ...rest
      } = this.#read(await textOf(this.#origin, answer));
      if (!Array.isArray(rows)) throw this.#strange();
      data.push(...(rows as unknown[]));
      if (next !== null && (typeof next !== "string" || next === cursor)) throw this.#strange();
      cursor = next;
      if (cursor === null || data.length >= wanted)
        return { ...rest, data, ...(hasPages && { next_cursor: cursor }) };
    }
  }

  async #ask(route: ApiRoute, given: Input, file?: ImportedFile): Promise<IncomingMessage> {
    const { path, rest } = await this.#addressOf(route, given);
    const hasMembers = route.method !== "GET" && route.method !== "DELETE" && !route.takesFile;
    const query = hasMembers ? "" : queryOf(rest);
    const isStream = route.operation.kind === "stream";
    const answer = await sendTo(this.#origin, {
      method: route.method,
      path: `/api/v1${path}${query === "" ? "" : `?${query}`}`,
      headers: {
        authorization: `Bearer ${this.#token}`,
        accept: `application/json, ${LINES}`,
        prefer: isStream ? "parts" : "return=representation",
        ...(this.#only !== null && { [ONLY_HEADER]: this.#only }),
      },
      ...(hasMembers && { body: rest }),
      ...(file !== undefined && { file }),
      waitMs: isStream ? STREAM_MS : route.method === "GET" ? READ_MS : WRITE_MS,
      ...(isStream && { silenceMs: STREAM_MS }),
    });
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    throw errorOf(this.#origin, answer, parsed(await textOf(this.#origin, answer)));
  }

  #routeOf(operation: AnyOperation): ApiRoute {
    const route = ROUTES.find((each) => each.operation.name === operation.name);
    if (route === undefined) throw doneBeside({ origin: this.#origin });
    return route;
  }

  /** The route's path with values from the input, and the rest of the input. */
  async #addressOf(route: ApiRoute, given: Input): Promise<{ readonly path: string; readonly rest: Input }> {
    const rest: Record<string, unknown> = { ...given };
    let { path } = route;
    for (const [placed, name = ""] of route.path.matchAll(/:(\w+)/g)) {
      const value = given[name] ?? (name === "workspace" ? await this.#onlyWorkspace() : "");
      delete rest[name];
      path = path.replace(placed, inPath(typeof value === "string" ? value : ""));
    }
    return { path, rest };
  }

  /** The workspace if the command named none and there is only one. @throws usage if there are several */
  async #onlyWorkspace(): Promise<string> {
    const { data } = (await this.perform(listAllWorkspaces, {})) as z.output<typeof listAllWorkspaces.output>;
    const [only, ...others] = data;
    if (only === undefined || others.length > 0)
      throw new FormsvcError("usage", "there are several workspaces", {
        hint: { kind: "list_workspaces" },
      });
    return only.id;
  }
}

function isInLines({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.startsWith(LINES) === true;
}

/** Escapes a value for a path. @throws not_found for a value that would change the address */
function inPath(value: string): string {
  if (/^\.{0,2}$/.test(value))
    throw new FormsvcError("not_found", `nothing is named ${JSON.stringify(value)}`);
  return encodeURIComponent(value);
}

function queryOf(input: Input): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    if (value === null || value === undefined) continue;
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value])
      query.append(name, typeof each === "string" ? each : JSON.stringify(each));
  }
  return query.toString();
}

function parsed(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}
