import { randomBytes } from "node:crypto";
import type { Clock } from "../foundation/clock.ts";
import type { Credential } from "./credential-store.ts";

/** Passwords that were proved and wait for the code of the second factor. In memory: a restart asks for the password again. */
export interface CodeTickets {
  /** A ticket for five minutes; it is unguessable. */
  issue(credential: Credential): string;
  /** The credential that was proved; undefined if the ticket is unknown, used or too old. */
  find(ticket: string): Credential | undefined;
  spend(ticket: string): void;
}

const LIFETIME_MS = 300_000;
/** Beyond this the oldest is dropped. */
const MAX_TICKETS = 1000;
const TICKET_BYTES = 24;

export function createCodeTickets(clock: Clock): CodeTickets {
  const tickets = new Map<string, { readonly credential: Credential; readonly expiresAt: number }>();
  return {
    issue(credential) {
      if (tickets.size >= MAX_TICKETS) tickets.delete(tickets.keys().next().value ?? "");
      const ticket = randomBytes(TICKET_BYTES).toString("base64url");
      tickets.set(ticket, { credential, expiresAt: clock.now() + LIFETIME_MS });
      return ticket;
    },
    find(ticket) {
      const found = tickets.get(ticket);
      return found !== undefined && clock.now() < found.expiresAt ? found.credential : undefined;
    },
    spend: (ticket) => void tickets.delete(ticket),
  };
}
