import type { Config } from "../config/config.ts";
import { postAddress } from "../config/dashboard-address.ts";
import type { Steps } from "../database/steps.ts";
import { listChallengeSecrets } from "../endpoints/challenge.ts";
import { closeEndpointsOf, deleteEndpointsOf } from "../endpoints/delete-endpoints-of.ts";
import type { EndpointContents } from "../endpoints/endpoint-contents.ts";
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

/** The lists of all secrets that the database must be able to give back. A feature that stores such secrets adds its list here. */
export const SECRET_LISTS: readonly ListSecrets[] = [
  listWebhookSecrets,
  listTotpSecrets,
  listSignInKeys,
  listFileLinkKeys,
  listChallengeSecrets,
];

/**
 * Deletes and moves what belongs to an endpoint, a batch at a time. A feature that may store many rows for an endpoint, or rows of an
 * endpoint that name its workspace, adds its function here.
 */
export const ENDPOINT_CONTENTS: EndpointContents = {
  deletions: [deleteSubmissionsOf, dropLostFilesOf, forgetKeysOf, forgetImportedOf],
  moves: [moveHeldPostsOf, deleteTokensElsewhere],
};

/** Counts and deletes what belongs to a workspace. A feature that may store many rows for a workspace adds its function here. */
export const WORKSPACE_CONTENTS: WorkspaceContents = {
  count: countContentsOf,
  removals: [followMovedEndpoints, closeEndpointsOf, deleteEndpointsOf(ENDPOINT_CONTENTS), forgetTextsOf],
};

/** Opens the configured keys. @throws config_invalid if they do not decrypt every secret of the database. */
export function* openKeyring(config: Config): Steps<Keyring> {
  const keyring = createKeyring(config.secrets);
  yield* checkKeys(SECRET_LISTS, keyring);
  return keyring;
}

/** Opens the signing of addresses of files. */
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

/** The spam settings of an endpoint whose owner has chosen none. */
export function spamDefaults(config: Config): SpamSettings {
  return defaultSpamSettings(config.spam.maxLinks ?? Number.MAX_SAFE_INTEGER);
}
