import { randomBytes } from "node:crypto";
import type { Steps } from "../database/steps.ts";
import { BoundedMap } from "../foundation/bounded-map.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Trier } from "./attempt-limits.ts";

/** A person who has given the first factor. */
interface Ticketed {
  readonly accountId: string;
  readonly trier: Trier;
  /** Admits the person once the second factor was given too, in the same transaction. @throws unauthorized */
  readonly admit: () => Steps<unknown>;
  /** The OpenID issuer that asked for the first factor; absent if this server did. */
  readonly issuer?: string;
}

/** First factors that wait for the second one. They are in memory, so after a restart the first one must be given again. */
export interface CodeTickets {
  /** Returns a ticket that is valid for five minutes and cannot be guessed. */
  issue(ticketed: Ticketed): string;
  /** Undefined if the ticket is unknown, used or expired. */
  find(ticket: string): Ticketed | undefined;
  spend(ticket: string): void;
}

const LIFETIME_MS = 300_000;
/** The largest number of tickets; beyond it the oldest is dropped. */
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
