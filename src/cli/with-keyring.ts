import { openKeyring } from "../app/features.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { Here } from "./output/terminal.ts";

/** Makes the part for operations that seal or open secrets. */
export async function withKeyring({ db, config }: Here): Promise<{ readonly keyring: Keyring }> {
  return { keyring: await db.read(() => openKeyring(config)) };
}
