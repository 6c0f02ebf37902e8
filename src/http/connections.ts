import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { NetworkList } from "../foundation/ip-address.ts";
import { socketAddress } from "./client-address.ts";
import type { Holder, Shares } from "./shares.ts";

/** What a request holds. */
export interface Flight {
  /** Null when it is over: objects that an old dead object refers to are not collected. */
  request: FastifyRequest | null;
  readonly connection: Connection;
  /** The client's address at first; from an address that many share, the secret key that it has shown. */
  holder: Holder;
  readonly bodyBytes: number;
  answerBytes: number;
  /** Increases from one answer to the next. */
  answerNumber: number;
  stage: "arriving" | "answering" | "answered" | "over";
  /** Whether it may take as long as files take. */
  isUpload: boolean;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Set while it waits to enter. */
  proceed: (() => void) | null;
  /** The pattern of its route, if that is a late one. */
  lateRoute: string | undefined;
}

/** A connection, whose requests are answered one after the other. */
export interface Connection {
  readonly socket: Socket;
  /** The client at its other end; null for a trusted proxy, which carries requests of others. */
  readonly peer: Holder | null;
  /** The client that the connection counts for now; null for a trusted proxy's connection without a request. */
  heldBy: Holder | null;
  /** Under way now; a field of its own, because an array that lost its only element can keep it from being collected. */
  current: Flight | null;
  /** They wait until the answer before them is taken. */
  readonly waiting: Flight[];
}

/**
 * Every open connection. A connection beyond the share of its address is closed as it comes, without being read.
 *
 * @param onClose called for each connection that has closed.
 */
export function followConnections(
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

/** Counts a connection as another holder's, or as nobody's. */
export function giveTo(shares: Shares, connection: Connection, holder: Holder | null): void {
  const { heldBy } = connection;
  if (heldBy === holder) return;
  if (holder !== null) shares.add(holder, "sockets", 1);
  if (heldBy !== null) shares.add(heldBy, "sockets", -1);
  connection.heldBy = holder;
}
