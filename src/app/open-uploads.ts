import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { ServedDatabase } from "../database/served-database.ts";
import { countFileBytes, dropUnstored } from "../files/file-store.ts";
import { SpoolRoom } from "../files/spool-room.ts";
import { createUploads, type Uploads } from "../files/uploads.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { SingleFlight } from "../foundation/single-flight.ts";
import type { ServiceParts } from "./parts.ts";

/** The way of files from their first byte to the commit. */
export function openUploads({ db, config: { files }, clock }: ServiceParts, served: ServedDatabase): Uploads {
  return createUploads({
    limits: files,
    room: new SpoolRoom(files.spoolBytes, files.maxPostBytes),
    // Beside the database file there is a disk with room, which the server may write to.
    folder: db.engine === "sqlite" ? dirname(db.path) : tmpdir(),
    clock,
    freeBytes: () => served.freeBytes(),
    countBytes: () => db.read(countFileBytes),
  });
}

/** Deletes files that got no submission, one post after the other. What is left when the process ends is deleted by a clean-up. */
export function openFileDrop({ db, log }: ServiceParts): {
  drop(ids: readonly string[]): void;
  settle(): Promise<void>;
} {
  const waiting: string[] = [];
  const dropping = new SingleFlight();
  const dropAll = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const file = id;
      while ((await db.transaction(() => dropUnstored(file))) > 0);
    }
  };
  return {
    drop(ids) {
      waiting.push(...ids);
      dropping.run(dropAll).catch((error: unknown) => maintenanceFailed(log, error));
    },
    settle: () => dropping.settle(),
  };
}
