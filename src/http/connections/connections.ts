import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { NetworkList } from "../../foundation/ip-address.ts";
import { socketAddress } from "../client-address.ts";
import type { Holder, Shares } from "./shares.ts";

/** A request under way, with the shared resources that it holds. */
export interface Flight {
  /** Null when the request is over, because the engine does not collect an object as long as an old dead object refers to it. */
  request: FastifyRequest | null;
  readonly connection: Connection;
  /** Who the request counts for: its client's address at first; the secret key, if the address may be a proxy's and the key was proven. */
  holder: Holder;
  readonly bodyBytes: number;
  answerBytes: number;
  /** The number of the answer on this server, which orders answers by their age; 0 before the answer. */
  answerNumber: number;
  stage: "arriving" | "answering" | "answered" | "over";
  /** Whether the request may take as long as an upload of files. */
  isUpload: boolean;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Continues the request. It is set while the request waits for earlier ones of its connection. */
  proceed: (() => void) | null;
  /** The pattern of the request's route if that is a late route. */
  lateRoute: string | undefined;
}

/** A connection. Its requests are answered one after the other. */
export interface Connection {
  readonly socket: Socket;
  /** The client at the other end; null for a trusted proxy, which carries the requests of others. */
  readonly peer: Holder | null;
  /** The client that the connection counts for now; null for a connection of a trusted proxy that has no request. */
  heldBy: Holder | null;
  /**
   * The request under way. It is not in the array, because an array that lost its only element can keep that element from being collected.
   */
  current: Flight | null;
  /** The requests that wait until the client has taken the answer before them. */
  readonly waiting: Flight[];
}

/**
 * Tracks every open connection. A connection beyond the share of its address is closed at once, without being read.
 *
 * @param onClose called for each connection that has closed.
 */
export function trackConnections(
  server: FastifyInstance,
  shares: Shares,
  trustedProxies: NetworkList,
  onClose: (connection: Connection) => void,
): ReadonlyMap<Socket, Connection> {
  const connections = new Map<Socket, Connection>();
  server.server.on("connection", (socket: Socket) => {
    const address = socketAddress(socket);
    const peer = trustedProxies.contains(address) ? null : shares.of(address);
    const connection: Connection = { socket, peer, heldBy: null, current: null, waiting: [] };
    connections.set(socket, connection);
    giveTo(shares, connection, peer);
    socket.once("close", () => {
      onClose(connection);
      giveTo(shares, connection, null);
      connections.delete(socket);
    });
    if (peer !== null && shares.isOver(peer, "sockets")) socket.destroy();
  });
  return connections;
}

/** Counts a connection for another holder, or for nobody. */
export function giveTo(shares: Shares, connection: Connection, holder: Holder | null): void {
  const { heldBy } = connection;
  if (heldBy === holder) return;
  if (holder !== null) shares.add(holder, "sockets", 1);
  if (heldBy !== null) shares.add(heldBy, "sockets", -1);
  connection.heldBy = holder;
}
