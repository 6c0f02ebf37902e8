import { FormsvcError } from "../foundation/errors.ts";
import { readKeyFile } from "./key-file.ts";
import { parseKeys } from "./key-list.ts";
import { seal, sealedWith, type SecretKey, unseal } from "./seal.ts";

/** `secrets` of the configuration; at most one of them is set. */
export interface SecretsSettings {
  readonly keyFile: string | null;
  readonly key: string | null;
}

/** Seals and opens secrets with the configured keys. Without any it stores them plain, and opens plain ones only. */
export interface Keyring {
  /** The source of the keys, for people; null without any. */
  readonly source: string | null;
  /** Ids of the keys as they are now, the newest first. */
  ids(): readonly string[];
  /** The text to store, sealed with the newest key. @param context see {@link seal}. */
  seal(plain: Buffer, context: string): Buffer;
  /**
   * The secret in a stored text, sealed or plain.
   *
   * @throws config_invalid without the key that it is sealed with, database_unusable when it was changed.
   */
  open(stored: Buffer, context: string): Buffer;
}

/**
 * The file is read again to seal, and to open a text whose key is not in memory, so a key that another process adds while this
 * one runs is found.
 *
 * @throws config_invalid saying what is wrong with the keys.
 */
export function createKeyring({ keyFile, key }: SecretsSettings): Keyring {
  const source = keyFile ?? (key === null ? null : "FORMSVC_SECRETS_KEY");
  const read = (): readonly SecretKey[] => {
    if (keyFile !== null) return readKeyFile(keyFile);
    return key === null ? [] : parseKeys(key, "secrets.key");
  };
  let keys = read();
  const find = (id: string): SecretKey | undefined => keys.find((each) => each.id === id);
  const findAnew = (id: string): SecretKey | undefined => {
    keys = read();
    return find(id);
  };
  return {
    source,
    ids() {
      keys = read();
      return keys.map(({ id }) => id);
    },
    seal(plain, context) {
      const [newest] = (keys = read());
      if (newest !== undefined) return seal(newest, plain, context);
      if (sealedWith(plain) === null) return plain;
      throw new FormsvcError("usage", "This value looks like one that formsvc has encrypted.");
    },
    open(stored, context) {
      const id = sealedWith(stored);
      if (id === null) return stored;
      const found = find(id) ?? findAnew(id);
      if (found === undefined) throw missingKey([id], source);
      return unseal(found, stored, context);
    },
  };
}

/** @param source the source of the keyring that lacks them. */
export function missingKey(ids: readonly string[], source: string | null): FormsvcError {
  const keys = ids.length === 1 ? `the key ${ids[0]}` : `the keys ${ids.join(", ")}`;
  const remedy =
    source === null
      ? "and no key is configured: set secrets.keyFile or FORMSVC_SECRETS_KEY"
      : `which ${source} does not hold: put ${ids.length === 1 ? "it" : "them"} back behind the newest`;
  const message = `secrets of this database are encrypted with ${keys}, ${remedy}; see docs/backup.md`;
  return new FormsvcError("config_invalid", message);
}
