import { type DatabaseSize, readSize } from "../../database/database-size.ts";
import { freeBytes } from "../../database/sqlite/database-health.ts";
import { html, type Html } from "../../foundation/html.ts";
import { MAIL_KIND } from "../../mail/recipients/mail-recipient.ts";
import { countDeliveries, oldestDueAt } from "../../outbox/queue/count-deliveries.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { sumHeldBytes } from "../../submissions/held/evict-held.ts";
import { heldByteLimit } from "../../submissions/commit/held-room.ts";
import { WEBHOOK_KIND } from "../../webhooks/webhook.ts";
import type { DashboardParts } from "../parts.ts";
import { exactTime } from "../kit/time.ts";
import { meter } from "./usage-view.ts";

/** How full each of the bounded resources is. */
export interface Room {
  readonly size: DatabaseSize;
  /** Bytes of held posts; `max` is null if there is no limit. */
  readonly held: { readonly bytes: number; readonly max: number | null };
  /** The number of messages that are to be sent. */
  readonly waiting: number;
  /** The time at which the oldest late message was due, in milliseconds since 1970 UTC; null if none is late. */
  readonly lateSince: number | null;
}

const KINDS = [WEBHOOK_KIND, MAIL_KIND, REPLY_KIND];
/** A message that has been due for less than this is on its way, and not late. */
const LATE_MS = 60_000;

export async function readRoom({ db, config }: DashboardParts, now: number): Promise<Room> {
  const size = await readSize(db);
  const bytes = await db.read(sumHeldBytes);
  const free = (): number | null => (db.engine === "sqlite" ? freeBytes(db) : null);
  let waiting = 0;
  let oldest = Number.POSITIVE_INFINITY;
  for (const kind of KINDS) {
    const counts = await db.read(() => countDeliveries(kind));
    waiting += (counts.get("pending") ?? 0) + (counts.get("sending") ?? 0);
    oldest = Math.min(oldest, await db.read(() => oldestDueAt(kind)));
  }
  return {
    size,
    held: { bytes, max: heldByteLimit(config.held.maxBytes, free)(bytes) },
    waiting,
    lateSince: oldest < now - LATE_MS ? oldest : null,
  };
}

export function roomCard({ size: { disk }, held, waiting, lateSince }: Room): Html {
  return html`<section class="card room">
    <header><h2>Room</h2></header>
    <div class="body">
      ${disk !== null && row("Disk", `${amount(disk.bytes - disk.free)} of ${amount(disk.bytes)}`, meter(disk.bytes - disk.free, disk.bytes))}
      ${row("Held posts", `${amount(held.bytes)}${held.max === null ? "" : ` of ${amount(held.max)}`}`, held.max === null ? null : meter(held.bytes, held.max))}
      ${row("Messages waiting", html`${waiting.toLocaleString("en")}${lateSince !== null && html`, the oldest since ${exactTime(lateSince)}`}`, null)}
    </div>
  </section>`;
}

function row(name: string, amounts: string | Html, bar: Html | null): Html {
  return html`<div>
    <p class="line"><b>${name}</b><span class="muted num">${amounts}</span></p>
    ${bar}
  </div>`;
}

const UNITS = ["MiB", "GiB", "TiB"] as const;

/** A text like `46 GiB`, rounded. The smallest unit is a MiB, rounded up. */
function amount(bytes: number): string {
  let value = Math.ceil(bytes / 1_048_576);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 10 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[unit]}`;
}
