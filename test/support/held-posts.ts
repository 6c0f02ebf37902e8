import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import {
  createHeldPostWriter,
  heldBytes,
  type HeldPost,
  type NewHeldPost,
} from "../../src/submissions/held/held-post.ts";

/** A held post as it is written, without any bound. */
export function newHeld(held: HeldPost, more: Partial<NewHeldPost> = {}): NewHeldPost {
  return {
    held,
    trapped: false,
    network: "",
    idempotent: null,
    bytes: heldBytes(held),
    maxBytes: null,
    ...more,
  };
}

/** Writes held posts into a file, inside a transaction of the caller's. */
export function heldAdder(db: SqliteDatabase): (held: HeldPost, more?: Partial<NewHeldPost>) => void {
  const insert = createHeldPostWriter(db);
  return (held, more) => insert(newHeld(held, more));
}
