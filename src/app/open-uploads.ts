import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { ServedDatabase } from "../database/served-database.ts";
import { createFileRoom, type FileRoom, type TakenFiles } from "../files/file-room.ts";
import { countFileBytes, dropUnstored } from "../files/file-store.ts";
import { type ObjectStore, objectsOf } from "../files/object-store.ts";
import { SpoolRoom } from "../files/spool-room.ts";
import { createUploads, type Uploads } from "../files/uploads.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { SingleFlight } from "../foundation/single-flight.ts";
import { ImportSpool } from "../submissions/import/import-spool.ts";
import type { ServiceParts } from "./parts.ts";

/** Opens the limits on the room for files, which the database keeps. */
export function openFileRoom({ db, config: { files, rateLimit } }: ServiceParts): FileRoom {
  const { maxTotalBytes, maxBytesPerAddressPerDay, maxFormShare } = files;
  const exempt = compileNetworks(rateLimit.exempt);
  return createFileRoom(db, { maxTotalBytes, maxBytesPerAddressPerDay, maxFormShare, exempt });
}

/** Opens the way of files, from the first byte until they are checked. */
export function openUploads(
  { db, config: { files }, clock, metrics }: ServiceParts,
  served: ServedDatabase,
  fileRoom: FileRoom,
): Uploads {
  const spoolRoom = new SpoolRoom(files.spoolBytes, files.maxPostBytes);
  if (metrics !== null) {
    metrics.gauge("formsvc_file_bytes", "Bytes of all files, those under way included.", () =>
      db.read(countFileBytes),
    );
    metrics.gauge("formsvc_file_max_bytes", "Bytes that they may take.", () => files.maxTotalBytes);
    metrics.gauge(
      "formsvc_file_spool_bytes",
      "Bytes of files that wait to be checked and stored.",
      () => spoolRoom.takenBytes,
    );
  }
  return createUploads({
    limits: files,
    fileRoom,
    spoolRoom,
    folder: spoolFolder(db),
    clock,
    freeBytes: () => served.freeBytes(),
    isStoreAway: () => newObjectsOf(db)?.isAway() ?? false,
  });
}

/** The file store that new files go to; null if they go into the database. */
export function newObjectsOf(db: ServiceParts["db"]): ObjectStore | null {
  const objects = objectsOf(db);
  return objects?.takesNew === true ? objects : null;
}

/** Opens the folder for files that are imported through the server. */
export function openImports(
  { db, clock, config: { files } }: ServiceParts,
  served: ServedDatabase,
): ImportSpool {
  return new ImportSpool({
    folder: spoolFolder(db),
    freeBytes: () => served.freeBytes(),
    minFreeBytes: files.minFreeBytes,
    clock,
  });
}

/** The folder in which files wait. Beside the database file there is a disk with room that the server may write to. */
function spoolFolder(db: ServiceParts["db"]): string {
  return db.engine === "sqlite" ? dirname(db.path) : tmpdir();
}

export interface FileDrop {
  drop(taken: TakenFiles): void;
  /** Resolves when no file waits to be deleted. */
  settle(): Promise<void>;
}

/** Deletes files that got no submission, one post after the other. A clean-up deletes those that are left when the process ends. */
export function openFileDrop({ db, log }: ServiceParts, room: Pick<FileRoom, "giveBack">): FileDrop {
  const waiting: TakenFiles[] = [];
  const dropping = new SingleFlight();
  const dropAll = async (): Promise<void> => {
    for (let taken = waiting.shift(); taken !== undefined; taken = waiting.shift())
      for (const { id, size } of taken.files) {
        let isDropped = false;
        while ((await db.transaction(() => dropUnstored(id))) > 0) isDropped = true;
        if (isDropped) await room.giveBack(taken, size);
      }
  };
  return {
    drop(taken) {
      waiting.push(taken);
      dropping.run(dropAll).catch((error: unknown) => maintenanceFailed(log, error));
    },
    settle: () => dropping.settle(),
  };
}
