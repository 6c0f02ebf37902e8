import type { Config } from "../config/config.ts";
import type { Blindness } from "../database/database.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { EndpointContents } from "../endpoints/endpoint-contents.ts";
import type { WorkspaceContents } from "../workspaces/delete-workspace.ts";
import type { FileLinks } from "../files/file-links.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Finding } from "../foundation/finding.ts";
import type { Log } from "../foundation/log.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import type { MailTests } from "../mail/health/mail-tests.ts";
import type { StoredLetters } from "../mail/letters/stored-letters.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { SpamSettings } from "../spam/spam-settings.ts";
import type { ImportedFile } from "../submissions/import/imported-file.ts";
import type { ImportSpool } from "../submissions/import/import-spool.ts";
import type { SearchSlots } from "../submissions/find/search-slots.ts";
import type { HttpSender } from "../webhooks/send.ts";
import type { TestSlots } from "../webhooks/test-slots.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";

/** What a server gives to the API. */
export type ServedParts = Omit<ApiParts, "committed" | "source"> & {
  /** The spool for files that are imported. */
  readonly imports: ImportSpool;
};

/** Stands for the file of a request that has none. */
export const NO_FILE: ImportedFile = { name: "", longestPieceBytes: 0, mostMembers: 0, bytes: () => [] };

/** What the API and the operations behind it work with. */
export interface ApiParts {
  readonly db: AnyDatabase;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyring: Keyring;
  readonly fileLinks: FileLinks;
  readonly sender: Pick<HttpSender, "send">;
  readonly testSlots: TestSlots;
  /** Null if no mail server is configured, as is the next member. */
  readonly mailTests: Pick<MailTests, "send"> | null;
  readonly storedLetters: Pick<StoredLetters, "wake"> | null;
  /** The address at which people open the dashboard; null if it is unknown. */
  readonly dashboardUrl: string | null;
  /** Deletes and moves what belongs to an endpoint. */
  readonly endpointContents: EndpointContents;
  /** Counts and deletes what belongs to a workspace. */
  readonly workspaceContents: WorkspaceContents;
  /** The spam settings of an owner who chose nothing. */
  readonly spamDefaults: SpamSettings;
  /** The findings of `formsvc doctor`, without the check that reads the whole file. */
  readonly examine: (age: "now" | "lately") => Promise<readonly Finding[]>;
  /** Slots for work that reads submissions one by one. */
  readonly searches: SearchSlots;
  /** Waits until something may have been committed since the last call. */
  readonly committed: () => Promise<void>;
  /** The file of the request, for operations that read one. */
  readonly source: ImportedFile;
  readonly limiter: RateLimiter;
  /** Why no token can be checked now; null if tokens can be checked. */
  readonly blindness: () => Blindness | null;
  /** Reports that settings changed, so that the server reads again what it caches of them. */
  readonly onChange: (kind: "write" | "danger") => MaybeLater<void>;
}
