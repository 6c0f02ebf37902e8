import { openFileLinks, openKeyring } from "../../app/features.ts";
import type { Here } from "./terminal.ts";

/** Makes the parts that sign addresses of files on this machine. */
export async function linkParts({ db, config }: Here) {
  const keyring = await db.read(() => openKeyring(config));
  return { fileLinks: openFileLinks({ db, config }, keyring) };
}
