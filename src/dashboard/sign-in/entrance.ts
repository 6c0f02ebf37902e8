import type { FastifyRequest } from "fastify";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Client, EnteredSession } from "../../sessions/note-sign-in.ts";
import { MIN_PASSWORD_BYTES } from "../../sessions/password.ts";
import { endSession } from "../../sessions/session.ts";
import { type Answer, redirect } from "../answer.ts";
import { type OwnSite, ownSiteOf, PLAIN_HTTP, wayOf } from "../own-site.ts";
import type { DashboardParts } from "../parts.ts";
import type { OpenVisit } from "../routes.ts";
import { readCookie, setKnownCookie, setSessionCookie, type Way } from "./session-cookie.ts";
import { DAY_SECONDS } from "../../foundation/time-units.ts";

export const PASSWORD_HINT = `${MIN_PASSWORD_BYTES} characters or more. Several words are easy to remember and hard to guess.`;

/** What the pages share that sign a browser in. */
export interface Entrance {
  readonly site: OwnSite;
  /** @throws forbidden if a password could be read on the way */
  readonly requireWay: (request: FastifyRequest) => Way;
  /** The browser that sent a request. @throws forbidden as `requireWay` does */
  readonly clientOf: (request: FastifyRequest) => Client;
  /**
   * Gives the browser the cookie of its new session, and ends its former session. From then on the browser is a known one.
   *
   * @param next the page that follows; without it, the page that the form names
   */
  readonly enter: (visit: OpenVisit, session: EnteredSession, next?: string) => Promise<Answer>;
}

export function createEntrance({ config, db }: DashboardParts): Entrance {
  const site = ownSiteOf(config);
  const maxAgeSeconds = config.dashboard.sessionMaxDays * DAY_SECONDS;
  const requireWay = (request: FastifyRequest): Way => {
    const way = wayOf(request, site);
    if (way === null) throw new FormsvcError("forbidden", PLAIN_HTTP);
    return way;
  };
  return {
    site,
    requireWay,
    clientOf: (request) => ({
      address: request.clientAddress,
      userAgent: request.headers["user-agent"] ?? "",
      knownCookie: readCookie(request, requireWay(request), "known"),
    }),
    async enter({ request, reply, viewer, form }, session, next) {
      if (viewer !== null) await db.transaction(() => endSession(viewer.accountId, viewer.sessionId));
      const way = requireWay(request);
      setSessionCookie(reply, way, session.cookie, maxAgeSeconds);
      setKnownCookie(reply, way, session.knownCookie);
      return redirect(safeNext(next ?? form.get("next")));
    },
  };
}

/** The page to open after the sign-in if it is one of ours; else the inbox. */
export function safeNext(text: string | null): string {
  const base = "http://dashboard.invalid";
  const url = URL.canParse(text ?? "", base) ? new URL(text ?? "", base) : null;
  const isOurs = url !== null && url.origin === base && /^\/dashboard(?:\/|$)/.test(url.pathname);
  return isOurs && !url.pathname.startsWith("/dashboard/sign-") ? url.pathname + url.search : "/dashboard";
}
