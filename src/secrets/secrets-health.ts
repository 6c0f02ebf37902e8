import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { createKeyring, type Keyring, type SecretsSettings } from "./keyring.ts";
import { countByKey, listSecrets, type ListSecrets, requireKeys } from "./stored-secret.ts";

const NAME = "secrets.encryption";
const SEE_DOCS = "do what it says; docs/backup.md tells how keys are kept";

/** Whether the configured keys decrypt the secrets. Unencrypted secrets are mentioned, but are not a problem. */
export function* checkSecrets(lists: readonly ListSecrets[], settings: SecretsSettings): Steps<Finding> {
  try {
    const keyring = createKeyring(settings);
    const secrets = yield* listSecrets(lists);
    const counts = countByKey(secrets);
    requireKeys(counts, keyring);
    for (const { context, stored } of secrets) keyring.open(stored, context);
    return describe(counts, keyring);
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
    return problem(NAME, error.message, error.facts.hint ?? SEE_DOCS);
  }
}

function describe(counts: ReadonlyMap<string | null, number>, keyring: Keyring): Finding {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return sound(NAME, "there is no secret to encrypt");
  const [newest] = keyring.ids();
  if (newest === undefined) {
    const where = "the database and its backups hold them as they are";
    return sound(NAME, `secrets: ${total}, plain: ${where}; docs/backup.md tells how to encrypt them`);
  }
  const others = total - (counts.get(newest) ?? 0);
  if (others === 0) return sound(NAME, `secrets: ${total}, encrypted with the key ${newest}`);
  return problem(NAME, `secrets that are plain or under an older key: ${others}`, {
    kind: "encrypt_rest_of_secrets",
  });
}
