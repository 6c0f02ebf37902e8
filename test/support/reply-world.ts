import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import type { AutoReply } from "../../src/mail/auto-reply/auto-reply.ts";
import type { ReplyChange } from "../../src/mail/auto-reply/check-auto-reply-settings.ts";
import { setAutoReply } from "./auto-replies.ts";
import { listDeliveries } from "../../src/outbox/queue/delivery-store.ts";
import type { Delivery } from "../../src/outbox/queue/delivery.ts";
import { REPLY_KIND } from "../../src/outbox/queue/recipient.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { asSubmission, submissionAdder } from "./add-submission.ts";
import { MailWorld } from "./mail-world.ts";
import { changeSchema } from "./terminal.ts";

const SCHEMA: SchemaDefinition = {
  email: { type: "string", format: "email" },
  name: { type: "string" },
  message: { type: "string" },
};

/** The parts of a post besides its data. */
interface Poster {
  readonly spamScore?: number;
  readonly trapped?: boolean;
  /** The address of the client. If absent, each post comes from another network. */
  readonly address?: string;
}

/** A mail world whose endpoint has a field for an e-mail address. */
export class ReplyWorld extends MailWorld {
  /** The number of the last network that a post came from. */
  #network = 0;

  constructor(port: number) {
    super(port);
    this.setSchema(SCHEMA);
  }

  get endpoint() {
    return this.db.now(() => getEndpoint(this.endpointId));
  }

  setSchema(definition: SchemaDefinition): void {
    this.db.now(() => changeSchema(this.endpointId, definition, this.clock.now()));
  }

  async turnOn(change: ReplyChange = {}): Promise<AutoReply> {
    const { db, endpoint, clock } = this;
    const reply = await setAutoReply(db, { endpoint, change }, clock.now());
    this.noticeChange();
    return reply;
  }

  /** Does what a server does after another process changed settings. */
  noticeChange(): void {
    this.outbox.forget();
    this.deliverer.reload();
  }

  /** Stores a post as a commit batch does, and returns its id. */
  postFrom(data: Record<string, unknown>, poster: Poster = {}): string {
    return this.postTogether([data], poster)[0] ?? "";
  }

  /** Stores several posts in one transaction. If `isRefused`, the transaction is undone, as if the disk refused it. */
  postTogether(
    posts: readonly Record<string, unknown>[],
    { spamScore = 0, trapped = false, address }: Poster = {},
    isRefused = false,
  ): string[] {
    const { db, clock, endpointId } = this;
    const insert = submissionAdder(db);
    return this.outbox.transactionNow((enqueue) => {
      const ids = posts.map((data) => {
        this.#network += 1;
        const network = `10.${this.#network >> 8}.${this.#network & 255}.1`;
        const submission = asSubmission({ endpointId, data, spamScore, createdAt: clock.now() });
        const posted = { submission, trapped, fields: data, address: address ?? network };
        return insert(submission, enqueue(submission, clock.now(), posted));
      });
      if (isRefused) throw new Error("the disk is full");
      return ids;
    });
  }

  /** Whether a post got the automatic reply. */
  isReplied(data: Record<string, unknown>, poster: Poster = {}): boolean {
    return this.repliesTo(this.postFrom(data, poster)).length > 0;
  }

  /** Lists the replies about one submission; null lists all. */
  repliesTo(submissionId: string | null = null): readonly Delivery[] {
    const filter = { kinds: [REPLY_KIND], recipientId: null, state: null, cursor: null, limit: 1000 };
    return this.db.now(() => listDeliveries({ ...filter, submissionId })).deliveries;
  }
}
