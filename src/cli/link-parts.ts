import { openFileLinks, openKeyring } from "../app/features.ts";
import type { Here } from "./terminal.ts";

/** What makes addresses of files at the machine. */
export async function linkParts({ db, config }: Here) {
  const keyring = await db.read(() => openKeyring(config));
  return { fileLinks: openFileLinks({ db, config }, keyring) };
}
