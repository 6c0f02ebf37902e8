import type { Steps } from "../../database/steps.ts";
import { alignDeliveries } from "../queue/align-deliveries.ts";
import type { Claim } from "./claimed-delivery.ts";
import type { Claims } from "./claims.ts";
import { Lane } from "./lane.ts";
import type { LaneClaims } from "./lane-claims.ts";
import { ownerOf } from "./owner.ts";
import type { MinuteRate } from "./pace.ts";
import { forgetFaults, type Destinations, readFaultRows } from "./destinations.ts";
import type { EnabledRecipient } from "../queue/recipient.ts";
import { areSeveralWorkspaces, listEnabledRecipients } from "../queue/recipient-store.ts";
import { recoverDeliveries } from "./recover-deliveries.ts";
import type { RoundDraft } from "./round-draft.ts";
import type { Route, Transport } from "./transport.ts";

/** A fault whose probe is overdue by this time belongs to a server that has ended: nobody will probe its destination. */
const STALE_FAULT_MS = 900_000;

/** The routes to recipients, by their kind and then by their id. */
type Routes = ReadonlyMap<
  string,
  { readonly transport: Transport; readonly byId: ReadonlyMap<string, Route> }
>;

interface LaneReaderParts {
  readonly claims: Claims;
  readonly laneClaims: LaneClaims;
  readonly transports: readonly Transport[];
  readonly destinations: Destinations;
  /** By the kind whose pace the transports share. */
  readonly rates: ReadonlyMap<string, MinuteRate>;
}

/** Facts that are not in the recipients' rows, from the time at which these are read. */
export interface LaneFacts {
  readonly routes: Routes;
  /** The ids of the live servers. */
  readonly servers: readonly string[];
  readonly returning: readonly Claim[];
  readonly ownIds: readonly string[];
}

/** Makes lanes from the recipients' rows. */
export class LaneReader {
  readonly #parts: LaneReaderParts;

  constructor(parts: LaneReaderParts) {
    this.#parts = parts;
  }

  async readRoutes(now: number): Promise<Routes> {
    const read = this.#parts.transports.map(
      async (transport) => [transport.kind, { transport, byId: await transport.routes(now) }] as const,
    );
    return new Map(await Promise.all(read));
  }

  /** Puts what an earlier process or a lost server was sending back into the queue. Returns the number. Call inside a transaction. */
  *recover(now: number): Steps<number> {
    const { claims, transports } = this.#parts;
    yield* forgetFaults(claims.isShared ? now - STALE_FAULT_MS : Number.MAX_SAFE_INTEGER);
    return yield* recoverDeliveries(yield* claims.readAbandoned(), transports, now);
  }

  /**
   * Reads the lanes of this server, the number of recovered deliveries of lost servers, whether several workspaces share the slots, and the
   * faults that the table shows. Call inside a transaction.
   */
  *read(draft: RoundDraft, { routes, servers, returning, ownIds }: LaneFacts, now: number) {
    const { claims, laneClaims } = this.#parts;
    yield* claims.giveBack(returning);
    const recovered = claims.isShared ? yield* this.#recoverOthers(ownIds, now) : 0;
    draft.isStale = yield* alignDeliveries(now);
    const lanes = (yield* listEnabledRecipients())
      .filter(({ id }) => ownerOf(id, servers) === claims.servers.self)
      .flatMap((recipient) => this.#laneOf(recipient, routes, now));
    yield* laneClaims.readDue(draft, lanes, now);
    return { lanes, recovered, isShared: yield* areSeveralWorkspaces(), faults: yield* readFaultRows() };
  }

  *#recoverOthers(ownIds: readonly string[], now: number): Steps<number> {
    yield* this.#parts.claims.giveBackUnknown(ownIds);
    return yield* this.recover(now);
  }

  /** The lane of a recipient; empty if there is no route to it now. */
  #laneOf(recipient: EnabledRecipient, routes: Routes, now: number): Lane[] {
    const { destinations, rates } = this.#parts;
    const known = routes.get(recipient.kind);
    const route = known?.byId.get(recipient.id);
    if (!known || !route) return [];
    const { transport } = known;
    const rate = rates.get(transport.sharedKind) ?? null;
    return [new Lane(recipient, { transport, route, destinations, rate }, now)];
  }
}
