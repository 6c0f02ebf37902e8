import type { FastifyReply, FastifyRequest } from "fastify";
import type { Door } from "../operations/perform.ts";
import type { ApiParts, ServedParts } from "./parts.ts";
import type { ApiRoute } from "./routes.ts";

/** What a server gives to the API while it is open. */
export type OpenParts = ServedParts & {
  /** Aborted when the server stops. Streams that follow without an end then end. */
  readonly closing: AbortSignal;
};

/** A request that was admitted. */
export interface Call {
  readonly route: ApiRoute;
  readonly parts: OpenParts;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly door: Door<ApiParts>;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Whether the client asked for this form of the answer in the header `Prefer` (RFC 7240). */
export function prefers({ headers }: FastifyRequest, wanted: string): boolean {
  const said = [headers["prefer"] ?? []].flat().join(",");
  return said.split(",").some((each) => each.trim().toLowerCase() === wanted);
}
