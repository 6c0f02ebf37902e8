import type { FastifyInstance, FastifyRequest } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import { plainText } from "../foundation/plain-text.ts";
import { type TokenActor, viewingOf } from "../operations/actor.ts";
import type { Importer, ImportSpool, ReceivedFile } from "../submissions/import/import-spool.ts";
import { countedAs } from "./token-owner.ts";

/** The media types that a file may be sent with. The operation that reads it decides what it is. */
export const FILE_TYPES = [
  "application/octet-stream",
  "application/x-ndjson",
  "application/json",
  "text/csv",
  "text/plain",
];

/** Lets the routes of a scope accept a file as their body. The whole file is received before it is read. */
export function takeFiles(scope: FastifyInstance, imports: ImportSpool): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(FILE_TYPES, async (request: FastifyRequest) => {
    const length = request.headers["content-length"];
    return imports.receive(request.raw.iterator({ destroyOnReturn: false }), {
      importer: importerOf(request.actor),
      name: nameIn(request.headers["content-disposition"]),
      lengthBytes: length === undefined ? null : Number(length),
    });
  });
  scope.addHook("onRequest", (request, _reply, next) => {
    // The time limit and the least speed are those of forms with files.
    if (request.flight !== null) request.flight.isUpload = true;
    next();
  });
}

function importerOf(actor: TokenActor | null): Importer {
  return {
    id: actor === null ? "" : countedAs(actor),
    isBounded: actor === null || !viewingOf(actor).isOperator,
  };
}

/** @throws invalid_request if there is no body */
export function fileOf({ body }: FastifyRequest): ReceivedFile {
  if (typeof body !== "object" || body === null || !("closeUnused" in body))
    throw new FormsvcError("invalid_request", "the body is missing: send the file as it is");
  return body as ReceivedFile;
}

const MAX_NAME_LENGTH = 200;

/** The name of the file for messages, from the header (RFC 6266, RFC 8187). */
function nameIn(header: string | undefined): string {
  const [, encoded = ""] = /filename\*=utf-8''([^;\s]+)/i.exec(header ?? "") ?? [];
  const [, quoted = ""] = /filename="([^"]*)"/i.exec(header ?? "") ?? [];
  return plainText(decoded(encoded) ?? quoted).slice(0, MAX_NAME_LENGTH) || "the file";
}

function decoded(text: string): string | null {
  try {
    return text === "" ? null : decodeURIComponent(text);
  } catch {
    return null;
  }
}
