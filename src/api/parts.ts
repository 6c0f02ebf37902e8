import type { Config } from "../config/config.ts";
import type { Blindness } from "../database/database.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { DeleteContents } from "../endpoints/delete-endpoint.ts";
import type { MoveContents } from "../endpoints/move-endpoint.ts";
import type { WorkspaceContents } from "../workspaces/delete-workspace.ts";
import type { FileLinks } from "../files/file-links.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Finding } from "../foundation/finding.ts";
import type { Log } from "../foundation/log.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import type { MailTests } from "../mail/mail-tests.ts";
import type { StoredLetters } from "../mail/stored-letters.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { SpamSettings } from "../spam/spam-settings.ts";
import type { ImportedFile } from "../submissions/import/imported-file.ts";
import type { ImportSpool } from "../submissions/import/import-spool.ts";
import type { SearchSlots } from "../submissions/find/search-slots.ts";
import type { HttpSender } from "../webhooks/send.ts";
import type { TestSlots } from "../webhooks/test-slots.ts";

/** What a server hands to the API. */
export type ServedParts = Omit<ApiParts, "committed" | "source"> & {
  /** Keeps files that are imported. */
  readonly imports: ImportSpool;
};

/** The file of a request that brings none. */
export const NO_FILE: ImportedFile = { name: "", longestPieceBytes: 0, bytes: () => [] };

/** What the API works with, and the operations behind it. */
export interface ApiParts {
  readonly db: AnyDatabase;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyring: Keyring;
  readonly fileLinks: FileLinks;
  readonly sender: Pick<HttpSender, "send">;
  readonly testSlots: TestSlots;
  /** Null if no mail server is configured, like the next. */
  readonly mailTests: Pick<MailTests, "send"> | null;
  readonly storedLetters: Pick<StoredLetters, "wake"> | null;
  /** The address at which people open the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
  /** What belongs to an endpoint and goes with it. */
  readonly endpointContents: readonly DeleteContents[];
  /** What belongs to an endpoint and goes along into another workspace. */
  readonly movedContents: readonly MoveContents[];
  /** What belongs to a workspace and goes with it. */
  readonly workspaceContents: WorkspaceContents;
  /** The spam settings of an owner who chose nothing. */
  readonly spamDefaults: SpamSettings;
  /** What `formsvc doctor` finds, but for the check that reads the whole file. */
  readonly examine: (age: "now" | "lately") => Promise<readonly Finding[]>;
  /** Slots for work that looks at submissions one by one. */
  readonly searches: SearchSlots;
  /** Waits until something may have been committed since it returned last. */
  readonly committed: () => Promise<void>;
  /** The file that came with the request, for operations that read one. */
  readonly source: ImportedFile;
  readonly limiter: RateLimiter;
  /** Why nobody's token can be checked now; null if it can. */
  readonly blindness: () => Blindness | null;
  /** Tells the server that settings changed, so that it reads again what it remembers of them. */
  readonly onChange: (kind: "write" | "danger") => void;
}
