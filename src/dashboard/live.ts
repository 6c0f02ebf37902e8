import { Readable } from "node:stream";
import { viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { findViewerOf, type Viewer } from "../sessions/session.ts";
import { type Arrivals, countArrivals } from "../submissions/find/news.ts";
import { TAIL_START, tailAfter, tailEnd } from "../submissions/find/tail.ts";
import type { DashboardParts } from "./parts.ts";

/** Streams at a time. An account may have 50 sessions; it does not take the places of the others. */
const MAX_STREAMS = { all: 64, ofAccount: 16, ofSession: 4 };
/** Shortest time between two events. */
const INTERVAL_MS = 1000;
/** Proxies close a connection on which nothing comes for a minute; some do after half of it. */
const COMMENT_INTERVAL_MS = 20_000;
/** Bytes that a client has not taken; one that takes nothing is cut off. */
const MAX_WAITING_BYTES = 4096;
/** What a browser waits before it connects again. */
const RECONNECT_MS = 5000;

interface Stream {
  viewer: Viewer;
  /** New submissions that were told. */
  count: number;
  /** Null until its first count is known. */
  out: Readable | null;
}

/** Streams that tell browsers that submissions came and how many, and nothing else of them. */
export class LiveStreams {
  readonly #parts: DashboardParts;
  readonly #streams = new Set<Stream>();
  #position = TAIL_START;
  /** One thing at a time, so that nothing is counted twice. */
  #last: Promise<unknown> = Promise.resolve();
  /** Null while no stream is open: a commit then costs one comparison. */
  #stopListening: (() => void) | null = null;
  #planned: NodeJS.Timeout | null = null;
  #comments: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(parts: DashboardParts) {
    this.#parts = parts;
  }

  /**
   * Null if this session, its account or the server has its maximum of them.
   *
   * @param after the id of a submission: those that came after it count too; null begins now. @throws invalid_request
   */
  async open(viewer: Viewer, after: string | null): Promise<Readable | null> {
    if (this.#isFull(viewer)) return null;
    const stream: Stream = { viewer, count: 0, out: null };
    // It has its place from now on, so that many requests at once do not take more than there are.
    this.#streams.add(stream);
    try {
      return await this.#oneAfterOther(() => this.#start(stream, after));
    } catch (error) {
      this.#drop(stream);
      throw error;
    }
  }

  /** Ends all of them, and opens no more. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) this.#drop(stream);
  }

  #isFull({ sessionId, accountId }: Viewer): boolean {
    const ofAccount = [...this.#streams].filter(({ viewer }) => viewer.accountId === accountId);
    const ofSession = ofAccount.filter(({ viewer }) => viewer.sessionId === sessionId);
    return (
      this.#closed ||
      this.#streams.size >= MAX_STREAMS.all ||
      ofAccount.length >= MAX_STREAMS.ofAccount ||
      ofSession.length >= MAX_STREAMS.ofSession
    );
  }

  #oneAfterOther<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  async #start(stream: Stream, after: string | null): Promise<Readable | null> {
    const { db } = this.#parts;
    if (this.#stopListening === null) await this.#begin();
    else await this.#look();
    if (after !== null) {
      const from = await db.read(() => tailAfter(after));
      const missed = await db.read(() => countArrivals(from, this.#position));
      stream.count = await this.#countFor(stream.viewer, missed);
    }
    // The server may have begun to stop meanwhile.
    if (!this.#streams.has(stream)) return null;
    const out = new Readable({ read() {} });
    out.once("close", () => this.#forget(stream));
    out.push(`retry: ${RECONNECT_MS}\n\n${stream.count > 0 ? eventOf(stream.count) : ""}`);
    stream.out = out;
    return out;
  }

  async #begin(): Promise<void> {
    this.#position = await this.#parts.db.read(tailEnd);
    this.#stopListening = this.#parts.news.listen(() => this.#plan());
    this.#comments = setInterval(() => this.#later(() => this.#comment()), COMMENT_INTERVAL_MS);
  }

  /** Many commits in a second are one look. */
  #plan(): void {
    this.#planned ??= setTimeout(() => {
      this.#planned = null;
      this.#later(() => this.#look());
    }, INTERVAL_MS);
  }

  #later(work: () => Promise<void>): void {
    this.#oneAfterOther(work).catch((error: unknown) => maintenanceFailed(this.#parts.log, error));
  }

  async #look(): Promise<void> {
    const arrivals = await this.#parts.db.read(() => countArrivals(this.#position));
    this.#position = arrivals.position;
    if (arrivals.isCut) this.#plan();
    for (const stream of this.#streams) {
      if (stream.out === null || arrivals.byEndpoint.size === 0) continue;
      const came = await this.#countFor(stream.viewer, arrivals);
      if (came === 0 || !(await this.#goesOn(stream))) continue;
      stream.count += came;
      write(stream.out, eventOf(stream.count));
    }
  }

  /** Of what somebody sees now: who was removed from a workspace hears nothing more of it. */
  async #countFor(viewer: Viewer, { byEndpoint }: Arrivals): Promise<number> {
    const endpointIds = await this.#parts.db.read(() => viewableEndpointIds(viewer));
    const counts = endpointIds?.map((id) => byEndpoint.get(id) ?? 0) ?? [...byEndpoint.values()];
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #comment(): Promise<void> {
    for (const stream of this.#streams) {
      if (stream.out !== null && (await this.#goesOn(stream))) write(stream.out, ":\n\n");
    }
  }

  /** A session that has ended hears nothing more. */
  async #goesOn(stream: Stream): Promise<boolean> {
    const { db, clock, config } = this.#parts;
    const { sessionId } = stream.viewer;
    const viewer = await db.read(() => findViewerOf(sessionId, clock.now(), config.dashboard));
    if (viewer === undefined) this.#drop(stream);
    else stream.viewer = viewer;
    // It may have ended in any way meanwhile.
    return this.#streams.has(stream);
  }

  #drop(stream: Stream): void {
    this.#forget(stream);
    stream.out?.push(null);
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
    if (this.#comments !== null) clearInterval(this.#comments);
    if (this.#planned !== null) clearTimeout(this.#planned);
    this.#planned = null;
  }
}

function eventOf(count: number): string {
  return `event: new\ndata: ${JSON.stringify({ count })}\n\n`;
}

function write(out: Readable, text: string): void {
  if (out.readableLength > MAX_WAITING_BYTES) out.destroy();
  else out.push(text);
}
