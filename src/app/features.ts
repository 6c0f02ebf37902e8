import type { Config } from "../config/config.ts";
import { postAddress } from "../config/dashboard-address.ts";
import type { Steps } from "../database/steps.ts";
import type { DeleteContents } from "../endpoints/delete-endpoint.ts";
import { listChallengeSecrets } from "../endpoints/challenge.ts";
import { closeEndpointsOf, deleteEndpointsOf } from "../endpoints/delete-endpoints-of.ts";
import type { MoveContents } from "../endpoints/move-endpoint.ts";
import { dropLostFilesOf } from "../files/file-store.ts";
import {
  createFileLinks,
  type FileLinks,
  type FileLinksParts,
  listFileLinkKeys,
} from "../files/file-links.ts";
import { forgetTextsOf } from "../history/remember-texts.ts";
import { createKeyring, type Keyring } from "../secrets/keyring.ts";
import { checkKeys, type ListSecrets } from "../secrets/stored-secret.ts";
import { listTotpSecrets } from "../sessions/credential-store.ts";
import { listSignInKeys } from "../sessions/known-clients.ts";
import { defaultSpamSettings, type SpamSettings } from "../spam/spam-settings.ts";
import { forgetKeysOf } from "../submissions/commit/idempotency.ts";
import { forgetImportedOf } from "../submissions/import/imported-rows.ts";
import { followMovedEndpoints, moveHeldPostsOf } from "../submissions/held/held-post.ts";
import { deleteSubmissionsOf, findSubmission } from "../submissions/stored/submission-store.ts";
import { countContentsOf } from "../submissions/stored/count-workspace.ts";
import { deleteTokensElsewhere } from "../tokens/token-store.ts";
import type { ServiceParts } from "./parts.ts";
import type { WorkspaceContents } from "../workspaces/delete-workspace.ts";
import { listWebhookSecrets } from "../webhooks/webhook-secrets.ts";

/** Every recoverable secret of the database. A feature that stores one adds its list here. */
export const SECRET_LISTS: readonly ListSecrets[] = [
  listWebhookSecrets,
  listTotpSecrets,
  listSignInKeys,
  listFileLinkKeys,
  listChallengeSecrets,
];

/** What is deleted with an endpoint, a batch at a time. A feature whose rows would be many adds its own here. */
export const ENDPOINT_CONTENTS: readonly DeleteContents[] = [
  deleteSubmissionsOf,
  dropLostFilesOf,
  forgetKeysOf,
  forgetImportedOf,
];

/** What of an endpoint names its workspace. A feature that stores that adds its own here. */
export const MOVED_CONTENTS: readonly MoveContents[] = [moveHeldPostsOf, deleteTokensElsewhere];

/** What is counted and deleted with a workspace. A feature whose rows would be many adds its own here. */
export const WORKSPACE_CONTENTS: WorkspaceContents = {
  count: countContentsOf,
  removals: [followMovedEndpoints, closeEndpointsOf, deleteEndpointsOf(ENDPOINT_CONTENTS), forgetTextsOf],
};

/** The configured keys. @throws config_invalid if they do not open every secret of the database. */
export function* openKeyring(config: Config): Steps<Keyring> {
  const keyring = createKeyring(config.secrets);
  yield* checkKeys(SECRET_LISTS, keyring);
  return keyring;
}

/** Signs the addresses of files. */
export function openFileLinks(
  { db, config }: Pick<ServiceParts, "db" | "config">,
  keyring: Keyring,
): FileLinks {
  const { baseUrl, linkDays: days } = config.files;
  const dataOf: FileLinksParts["dataOf"] = function* (id) {
    return (yield* findSubmission(id))?.data ?? null;
  };
  return createFileLinks({ db, keyring, baseUrl: baseUrl ?? postAddress(config), days, dataOf });
}

/** The spam settings of an owner who chose nothing. */
export function spamDefaults(config: Config): SpamSettings {
  return defaultSpamSettings(config.spam.maxLinks ?? Number.MAX_SAFE_INTEGER);
}
