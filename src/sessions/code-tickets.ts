import { randomBytes } from "node:crypto";
import type { Steps } from "../database/steps.ts";
import { BoundedMap } from "../foundation/bounded-map.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Trier } from "./attempt-limits.ts";

/** Somebody who gave the first factor. */
export interface Ticketed {
  readonly accountId: string;
  readonly trier: Trier;
  /** What the first factor brings about once the second is there too, in the same transaction. @throws unauthorized */
  readonly admit: () => Steps<unknown>;
  /** The OpenID issuer that asked for the first factor; absent if it was asked for here. */
  readonly issuer?: string;
}

/** First factors that wait for the second. In memory: a restart asks for the first again. */
export interface CodeTickets {
  /** A ticket for five minutes; it is unguessable. */
  issue(ticketed: Ticketed): string;
  /** Undefined if the ticket is unknown, used or too old. */
  find(ticket: string): Ticketed | undefined;
  spend(ticket: string): void;
}

const LIFETIME_MS = 300_000;
/** Beyond this the oldest is dropped. */
const MAX_TICKETS = 1000;
const TICKET_BYTES = 24;

export function createCodeTickets(clock: Clock): CodeTickets {
  const tickets = new BoundedMap<string, { readonly ticketed: Ticketed; readonly expiresAt: number }>(
    MAX_TICKETS,
  );
  return {
    issue(ticketed) {
      const ticket = randomBytes(TICKET_BYTES).toString("base64url");
      tickets.set(ticket, { ticketed, expiresAt: clock.now() + LIFETIME_MS });
      return ticket;
    },
    find(ticket) {
      const found = tickets.get(ticket);
      return found !== undefined && clock.now() < found.expiresAt ? found.ticketed : undefined;
    },
    spend: (ticket) => void tickets.delete(ticket),
  };
}
