import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import type { Steps } from "../../src/database/steps.ts";
import {
  createHeldPostWriter,
  findHeldPost,
  heldBytes,
  type HeldPost,
  type NewHeldPost,
} from "../../src/submissions/held/held-post.ts";

/** Makes a held post that can be written, without a limit of bytes. */
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

/** Returns a function that writes held posts into a file, inside a transaction of the caller. */
export function heldAdder(db: SqliteDatabase): (held: HeldPost, more?: Partial<NewHeldPost>) => void {
  const insert = createHeldPostWriter(db);
  return (held, more) => insert(newHeld(held, more));
}

/** The held post with this id. @throws Error if there is none */
export function* getHeldPost(id: string): Steps<HeldPost> {
  const held = yield* findHeldPost(id);
  if (held === undefined) throw new Error(`there is no held post ${id}`);
  return held;
}
