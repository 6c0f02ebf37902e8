import { createLog } from "../../src/foundation/log.ts";
import { silentLog } from "./silent-log.ts";
import { addMailRecipient } from "./mail-recipients.ts";
import {
  defaultMailRecipientSettings,
  type MailRecipient,
  type MailRecipientSettings,
} from "../../src/mail/recipients/mail-recipient.ts";
import { createAutoReplyTransport } from "../../src/mail/auto-reply/auto-reply-transport.ts";
import { createMayReply } from "../../src/mail/auto-reply/may-reply.ts";
import { type ReplyLimits, replyLimitsOf } from "../../src/mail/auto-reply/reply-limits.ts";
import { createMailTransport, type MailDeliverySettings } from "../../src/mail/mail-transport.ts";
import { createSmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { createSqliteOutbox } from "../../src/outbox/queue/outbox.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { plainSettings } from "./smtp-servers.ts";
import { WebhookWorld } from "./webhook-world.ts";

/** A world whose deliverer also sends e-mail, to a mail server on loopback. */
export class MailWorld extends WebhookWorld {
  #port = 0;
  /** The settings that differ from the defaults. They take effect at the next {@link MailWorld.startMail}. */
  mailSettings: Partial<MailDeliverySettings> = {};
  /** The limits of automatic replies. They take effect at the next {@link MailWorld.startMail}. */
  replyLimits: ReplyLimits = replyLimitsOf(defaultConfig);
  /** The lines that the deliverers logged, as JSON. */
  readonly logged: string[] = [];

  constructor(port: number) {
    super();
    this.startMail(port);
  }

  /** Makes a deliverer like that of a new process. The one before must have stopped. */
  startMail(port: number = this.#port): Deliverer {
    this.#port = port;
    this.outbox = createSqliteOutbox(this.db, createMayReply(["forms@example.com"], this.replyLimits));
    const { db, outbox, clock } = this;
    const settings = plainSettings(port, { timeoutMs: 60_000 });
    const common = {
      db,
      sender: createSmtpSender(settings),
      from: settings.from,
      destination: `127.0.0.1:${port}`,
      settings: { ...defaultConfig.mail, ...this.mailSettings },
      log: silentLog,
    };
    const mail = createMailTransport({
      ...common,
      dashboardUrl: "https://forms.example.com/dashboard",
      unsubscribeUrl: () => null,
    });
    const replies = createAutoReplyTransport({ ...common, clock });
    this.deliverer = new Deliverer({
      db,
      claims: createClaims(db),
      outbox,
      transports: [this.transport, mail, replies],
      clock,
      log: createLog("warn", { write: (line) => void this.logged.push(line) }),
      random: () => 0,
    });
    return this.deliverer;
  }

  /** Replaces the deliverer as after a crash: attempts that are under way get no end. Only their connections are closed. */
  async restartMail(): Promise<void> {
    await this.deliverer.stop(0);
    this.startMail();
    await this.deliverer.recover();
    this.deliverer.start();
  }

  addRecipient(
    address = "ada@example.org",
    settings: Partial<MailRecipientSettings> = {},
  ): Promise<MailRecipient> {
    const { endpointId } = this;
    const chosen = { ...defaultMailRecipientSettings, address, ...settings };
    const made = { endpointId, settings: chosen, isConfirmed: true };
    this.outbox.forget();
    this.deliverer.reload();
    return this.db.transaction(() => addMailRecipient(made, this.clock.now()));
  }
}

/** The value of a header of an e-mail, unfolded; null if the e-mail has no header of this name. */
export function headerOf(raw: Buffer, name: string): string | null {
  const head =
    raw
      .toString("latin1")
      .split("\r\n\r\n", 1)[0]
      ?.replace(/\r\n[ \t]+/g, " ") ?? "";
  return new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1] ?? null;
}
