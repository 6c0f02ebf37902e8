import type { AnyDatabase } from "../../database/any-database.ts";
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { openKeyring, SECRET_LISTS } from "../../app/features.ts";
import type { Config } from "../../config/config.ts";
import type { Database } from "../../database/database.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { addKey } from "../../secrets/key-file.ts";
import { createKeyring, type Keyring } from "../../secrets/keyring.ts";
import { checkKeys, countSecrets, decryptSome, encryptSome } from "../../secrets/stored-secret.ts";
import { clearLog } from "../output/clear-log.ts";
import { addNoun, command, type CommandContext } from "../command.ts";
import { letOthersWrite, withDatabase } from "../open.ts";

export function register(program: Command): void {
  const summary = "Encryption of the secrets in the database, like those of webhooks and second factors";
  addNoun(program, "secrets", summary, [status, rotate, encrypt, decrypt]);
}

const status = command({
  usage: "status",
  summary: "Count the secrets that are not encrypted, and those that each key encrypts",
  action: (context, _options) =>
    withDatabase(context, async (db, config) => {
      const keyring = createKeyring(config.secrets);
      const counts = await db.read(() => countSecrets(SECRET_LISTS));
      const plain = counts.get(null) ?? 0;
      counts.delete(null);
      const available = new Set(keyring.ids());
      const keys = [...new Set([...available, ...(counts.keys() as Iterable<string>)])].map((id) => ({
        id,
        secrets: counts.get(id) ?? 0,
        available: available.has(id),
      }));
      if (context.output.isJson) return context.output.json({ source: keyring.source, plain, keys });
      const rows = keys.map(({ id, secrets, available: isThere }) => [
        id,
        String(secrets),
        isThere ? `in ${keyring.source ?? ""}` : "missing",
      ]);
      return context.output.table(["KEY", "SECRETS", ""], [...rows, ["none", String(plain), "plain"]], "");
    }),
});

const rotate = command({
  usage: "rotate",
  summary: "Put a new key into secrets.keyFile, which it creates if needed, and encrypt every secret with it",
  examples: ["FORMSVC_SECRETS_KEY_FILE=/etc/formsvc/secrets.key formsvc secrets rotate"],
  action: (context) =>
    withDatabase(context, async (db, config) => {
      await addNewestKey(context, db, config);
      const keyring = await db.read(() => openKeyring(config));
      return encryptAll(context, db, keyring);
    }),
});

const encrypt = command({
  usage: "encrypt",
  summary:
    "Encrypt every secret with the newest key: unencrypted ones, and those that an interrupted rotation left",
  action: (context) =>
    withDatabase(context, async (db, config) => {
      const keyring = await db.read(() => openKeyring(config));
      if (keyring.source === null) throw new FormsvcError("config_invalid", NO_KEY);
      return encryptAll(context, db, keyring);
    }),
});

const decrypt = command({
  usage: "decrypt",
  summary: "Store every secret unencrypted again, before the key is removed from the configuration",
  action: (context) =>
    withDatabase(context, async (db, config) => {
      const keyring = await db.read(() => openKeyring(config));
      const decrypted = await repeat(db, () => db.transaction(() => decryptSome(SECRET_LISTS, keyring)));
      if (context.output.isJson) return context.output.json({ decrypted });
      context.output.note(`${decrypted} secrets are plain again`);
      return context.output.note(
        "now take secrets.keyFile or FORMSVC_SECRETS_KEY out of the configuration, and restart the server",
      );
    }),
});

const NO_KEY =
  "no key is configured: set secrets.keyFile to a file's name first, then: formsvc secrets rotate";

/** Adds a key in a transaction, because two commands that add a key at once would lose one. @throws config_invalid */
async function addNewestKey(
  { clock }: CommandContext,
  db: Database,
  { secrets: { keyFile, key } }: Config,
): Promise<void> {
  if (keyFile === null) {
    const remedy =
      "the key is FORMSVC_SECRETS_KEY, which a command cannot change: " +
      "write a new one and a comma before it, restart the server, then: formsvc secrets encrypt";
    throw new FormsvcError("config_invalid", key === null ? NO_KEY : remedy);
  }
  let isAdded = false;
  await db.transaction(function* () {
    const before = existsSync(keyFile) ? createKeyring({ keyFile, key }) : { source: keyFile, ids: () => [] };
    yield* checkKeys(SECRET_LISTS, before);
    // The file is not part of the transaction, which may run several times.
    if (!isAdded) addKey(keyFile, toIsoTime(clock.now()));
    isAdded = true;
  });
}

async function encryptAll(context: CommandContext, db: AnyDatabase, keyring: Keyring): Promise<void> {
  const { output } = context;
  const hadPlain = ((await db.read(() => countSecrets(SECRET_LISTS))).get(null) ?? 0) > 0;
  const encrypted = await repeat(db, () => db.transaction(() => encryptSome(SECRET_LISTS, keyring)));
  clearLog(context, { db });
  const [key] = keyring.ids();
  if (output.isJson) return output.json({ key, source: keyring.source, encrypted });
  output.note(`${encrypted} secrets were encrypted with the key ${key} of ${keyring.source}`);
  if (hadPlain)
    output.note("what was copied from the database until now holds them plain: backups, kept files");
  return output.note("keep a copy of the key elsewhere than the backups: without it they open no secret");
}

/** Repeats small transactions, with pauses in which a server can write. */
async function repeat(db: AnyDatabase, some: () => Promise<number>): Promise<number> {
  let changed = 0;
  for (let count = await some(); count > 0; count = await some()) {
    changed += count;
    await letOthersWrite(db);
  }
  return changed;
}
