import { randomBytes } from "node:crypto";
import { BoundedMap } from "../foundation/bounded-map.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Trier } from "./attempt-limits.ts";
import type { Credential } from "./credential-store.ts";

/** A password that was proved, and who gave it. */
export interface Ticketed {
  readonly proved: Credential;
  readonly trier: Trier;
}

/** Passwords that were proved and wait for the code of the second factor. In memory: a restart asks for the password again. */
export interface CodeTickets {
  /** A ticket for five minutes; it is unguessable. */
  issue(proved: Credential, trier: Trier): string;
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
    issue(proved, trier) {
      const ticket = randomBytes(TICKET_BYTES).toString("base64url");
      tickets.set(ticket, { ticketed: { proved, trier }, expiresAt: clock.now() + LIFETIME_MS });
      return ticket;
    },
    find(ticket) {
      const found = tickets.get(ticket);
      return found !== undefined && clock.now() < found.expiresAt ? found.ticketed : undefined;
    },
    spend: (ticket) => void tickets.delete(ticket),
  };
}
