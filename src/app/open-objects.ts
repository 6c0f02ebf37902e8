import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import { countDeletions } from "../files/file-deletions.ts";
import { type ObjectStore, setObjectStore } from "../files/object-store.ts";
import { REQUEST_KINDS, S3Store, type StoreObserver } from "../files/s3-store.ts";
import type { S3Settings } from "../files/s3-request.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { fileStoreFailed, fileStoreRecovered } from "../foundation/events.ts";
import { noMetrics } from "../foundation/metrics.ts";
import { readSecretLine } from "../secrets/secret-file.ts";
import type { ServiceParts } from "./parts.ts";

const NOBODY: StoreObserver = { onFailure() {}, onFault() {}, onRecovery() {} };

/**
 * Opens the file store that the configuration names, so that code which reads files of this database finds those in the store; null if the
 * configuration names none.
 */
export function openObjects(
  { db, config }: { readonly db: AnyDatabase; readonly config: Config },
  observer: StoreObserver = NOBODY,
): ObjectStore | null {
  const { storage, s3 } = config.files;
  if (s3.endpoint === null) return null;
  const store = new S3Store({ settings: () => readStoreSettings(s3), takesNew: storage === "s3", observer });
  setObjectStore(db, store);
  return store;
}

/**
 * Opens the file store for a server, which logs and counts its failures. @throws config_invalid if the file with the secret cannot be read.
 */
export function serveObjects(parts: ServiceParts): ObjectStore | null {
  const { db, config, log, clock } = parts;
  const metrics = parts.metrics ?? noMetrics;
  const failed = metrics.counter(
    "formsvc_file_store_failures_total",
    "Requests that the S3-compatible store of files did not do.",
    "request",
    REQUEST_KINDS,
  );
  const store = openObjects(parts, {
    onFailure: (request) => failed(request),
    onFault: (fault) => fileStoreFailed(log, fault),
    onRecovery: () => fileStoreRecovered(log),
  });
  if (store !== null) readStoreSettings(config.files.s3);
  metrics.gauge(
    "formsvc_file_deletions_waiting",
    "Files that wait to be deleted in the store of files.",
    () =>
      db.read(function* () {
        return (yield* countDeletions(clock.now())).objects;
      }),
  );
  return store;
}

/** Reads the settings of the file store. @throws config_invalid if they are incomplete, or if the file with the secret cannot be read. */
export function readStoreSettings(s3: Config["files"]["s3"]): S3Settings {
  const { endpoint, bucket, accessKeyId, secretAccessKey, secretAccessKeyFile } = s3;
  if (endpoint === null || bucket === null || accessKeyId === null)
    throw refuse("files.s3: name endpoint, bucket and accessKeyId");
  if (secretAccessKey !== null) return { ...s3, endpoint, bucket, accessKeyId, secretAccessKey };
  if (secretAccessKeyFile === null) throw refuse("files.s3.secretAccessKey: the secret is not set here");
  const secret = readSecretLine("files.s3.secretAccessKeyFile", secretAccessKeyFile);
  return { ...s3, endpoint, bucket, accessKeyId, secretAccessKey: secret };
}

function refuse(message: string): FormsvcError {
  return new FormsvcError("config_invalid", message);
}
