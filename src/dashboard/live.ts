import { Readable } from "node:stream";
import { viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { findViewerOf, type Viewer } from "../sessions/session.ts";
import { type Arrivals, countArrivals } from "../submissions/find/news.ts";
import { TAIL_START, tailAfter, tailEnd } from "../submissions/find/tail.ts";
import type { DashboardParts } from "./parts.ts";

/** The largest numbers of open streams. An account may have 50 sessions, and must not take the streams of others. */
const MAX_STREAMS = { all: 64, ofAccount: 16, ofSession: 4 };
/** The shortest time between two events. */
const INTERVAL_MS = 1000;
/** Proxies close a connection that is silent for a minute, and some do after half a minute. */
const COMMENT_INTERVAL_MS = 20_000;
/** The largest number of bytes that wait for a client. A client that does not read is cut off. */
const MAX_WAITING_BYTES = 4096;
/** The time that a browser waits before it connects again. */
const RECONNECT_MS = 5000;

interface Stream {
  viewer: Viewer;
  /** The number of new submissions that the client was told about. */
  count: number;
  /** Null until its first count is known. */
  out: Readable | null;
}

/** Streams that tell browsers how many submissions came, and nothing else about them. */
export class LiveStreams {
  readonly #parts: DashboardParts;
  readonly #streams = new Set<Stream>();
  #position = TAIL_START;
  /** The end of the last work. Works run one after the other, so that nothing is counted twice. */
  #last: Promise<unknown> = Promise.resolve();
  /** Null while no stream is open; a commit then costs one comparison. */
  #stopListening: (() => void) | null = null;
  #planned: NodeJS.Timeout | null = null;
  #comments: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(parts: DashboardParts) {
    this.#parts = parts;
  }

  /**
   * Opens a stream; null if this session, its account or the server has the largest number of them.
   *
   * @param after the id of a submission: later ones count too; null counts from now on
   * @throws invalid_request
   */
  async open(viewer: Viewer, after: string | null): Promise<Readable | null> {
    if (this.#isFull(viewer)) return null;
    const stream: Stream = { viewer, count: 0, out: null };
    // The stream is counted from now on, so that many requests at once cannot exceed the limit.
    this.#streams.add(stream);
    try {
      return await this.#oneAfterOther(() => this.#start(stream, after));
    } catch (error) {
      this.#drop(stream);
      throw error;
    }
  }

  /** Ends all streams, and opens no more. */
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

  /** Plans one read for all commits within an interval. */
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

  /** Counts what the viewer may see now. Somebody who was removed from a workspace learns nothing more about it. */
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

  /** Whether the stream may go on: a session that has ended gets nothing more. */
  async #goesOn(stream: Stream): Promise<boolean> {
    const { db, clock, config } = this.#parts;
    const { sessionId } = stream.viewer;
    const viewer = await db.read(() => findViewerOf(sessionId, clock.now(), config.dashboard));
    if (viewer === undefined) this.#drop(stream);
    else stream.viewer = viewer;
    // The stream may have ended meanwhile for another reason.
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
