import { readFileSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Counts the transactions in a database's write-ahead log, by its file format: the last frame of each transaction contains the size of the
 * database after it, and frames of an older log have another salt.
 */
export function countCommits(databasePath: string): number {
  const log = readFileSync(`${databasePath}-wal`);
  if (log.length < HEADER_BYTES) return 0;
  const pageSize = log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let commits = 0;
  for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES <= log.length; at += FRAME_HEADER_BYTES + pageSize) {
    if (!log.subarray(at + 8, at + 16).equals(salt)) break;
    if (log.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return commits;
}
