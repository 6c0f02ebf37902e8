import { FormsvcError } from "../foundation/errors.ts";
import { readKeyFile } from "./key-file.ts";
import { parseKeys } from "./key-list.ts";
import { seal, sealedWith, type SecretKey, unseal } from "./seal.ts";

/** `secrets` of the configuration; at most one of them is set. */
export interface SecretsSettings {
  readonly keyFile: string | null;
  readonly key: string | null;
}

/** Encrypts and decrypts secrets with the configured keys. Without keys it stores secrets unencrypted, and reads only unencrypted ones. */
export interface Keyring {
  /** The source of the keys, for people; null if there are no keys. */
  readonly source: string | null;
  /** The ids of the present keys, the newest first. */
  ids(): readonly string[];
  /** Encrypts a secret with the newest key, and returns the text to store. @param context see {@link seal}. */
  seal(plain: Buffer, context: string): Buffer;
  /**
   * The secret in a stored text, encrypted or not.
   *
   * @throws config_invalid if the key that it is encrypted with is missing; database_unusable if the text was changed.
   */
  open(stored: Buffer, context: string): Buffer;
}

/**
 * Creates the keyring. The key file is read again to encrypt, and to decrypt a text whose key is not in memory, so that a key that another
 * process adds meanwhile is found.
 *
 * @throws config_invalid that says what is wrong with the keys.
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
      throw new FormsvcError("usage", "this value looks like one that formsvc has encrypted");
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

/** The error about missing keys. @param source where the keyring's keys come from. */
export function missingKey(ids: readonly string[], source: string | null): FormsvcError {
  const keys = ids.length === 1 ? `the key ${ids[0]}` : `the keys ${ids.join(", ")}`;
  const remedy =
    source === null
      ? "and no key is configured: set secrets.keyFile or FORMSVC_SECRETS_KEY"
      : `which ${source} does not hold: put ${ids.length === 1 ? "it" : "them"} back behind the newest`;
  const message = `secrets of this database are encrypted with ${keys}, ${remedy}; see docs/backup.md`;
  return new FormsvcError("config_invalid", message);
}
