import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { moveIntoPlace } from "../database/sqlite/durable-file.ts";
import { openNewFile } from "../database/sqlite/private-file.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { parseKeys, withNewKey } from "./key-list.ts";
import type { SecretKey } from "./seal.ts";
import { readSecretFile } from "./secret-file.ts";

/** The keys of a file, the newest first. @throws config_invalid that says what is wrong with the file. */
export function readKeyFile(file: string): readonly SecretKey[] {
  return parseKeys(readText(file), file);
}

/**
 * Adds a new key above those of the file, which keeps its owner and mode; or creates the file with mode 0600. The file gets its name only
 * when it is complete and on disk. Two processes that do this at once would lose a key, so call it inside a transaction.
 *
 * @throws config_invalid if the file is not a key file; database_unusable if it cannot be written.
 */
export function addKey(named: string, madeAt: string): void {
  const before = statSync(named, { throwIfNoEntry: false });
  // If the name is a symbolic link, its target is replaced, and not the link.
  const file = before === undefined ? named : realpathSync(named);
  const text = withNewKey(before === undefined ? "" : readText(file), madeAt);
  parseKeys(text, file);
  const unfinished = `${file}.new`;
  rmSync(unfinished, { force: true });
  const fd = openNewFile(unfinished);
  try {
    if (before !== undefined) becomeLike(before, fd, file);
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  moveIntoPlace(unfinished, file);
}

/** Gives the new file the owner and mode of the old one: the service must be able to read what root writes. */
function becomeLike({ uid, gid, mode }: Stats, fd: number, file: string): void {
  try {
    fchownSync(fd, uid, gid);
    fchmodSync(fd, mode & 0o770);
  } catch (error) {
    const message = `${file}: it belongs to another user; do this as that user or as root`;
    throw new FormsvcError("database_unusable", message, { cause: error });
  }
}

function readText(file: string): string {
  return readSecretFile("secrets.keyFile", file, { kind: "restore_or_make_key_file" });
}
