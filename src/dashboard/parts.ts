import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { Blindness } from "../database/database.ts";
import type { EndpointContents } from "../endpoints/endpoint-contents.ts";
import type { FileLinks } from "../files/file-links.ts";
import type { Background } from "../foundation/background.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Finding } from "../foundation/finding.ts";
import type { Log } from "../foundation/log.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import type { Letters } from "../mail/letters/letters.ts";
import type { MailService } from "../mail/open-mail.ts";
import type { StoredLetters } from "../mail/letters/stored-letters.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { SpamSettings } from "../spam/spam-settings.ts";
import type { ImportSpool } from "../submissions/import/import-spool.ts";
import type { Sleep } from "../sessions/attempt-limits.ts";
import type { SearchSlots } from "../submissions/find/search-slots.ts";
import type { News } from "../submissions/find/news.ts";
import type { TestSlots } from "../webhooks/test-slots.ts";
import type { WorkspaceContents } from "../workspaces/delete-workspace.ts";
import type { HttpSender } from "../webhooks/send.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";

/** What the pages work with. */
export interface DashboardParts {
  readonly db: AnyDatabase;
  readonly config: Config;
  /** The file that was given with `--config`; null if none was. */
  readonly configFile: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** The time between two requests of a visitor, in milliseconds; undefined means the default. */
  readonly visitIntervalMs?: number;
  /** Delays a sign-in after failures; undefined means a real delay. */
  readonly signInSleep?: Sleep;
  readonly keyring: Keyring;
  readonly fileLinks: FileLinks;
  readonly sender: Pick<HttpSender, "send">;
  /** Slots for tests of webhooks. */
  readonly testSlots: TestSlots;
  /** Deletes and moves what belongs to an endpoint. */
  readonly endpointContents: EndpointContents;
  /** Counts and deletes what belongs to a workspace. */
  readonly workspaceContents: WorkspaceContents;
  /** The spam settings of an owner who chose nothing. */
  readonly spamDefaults: SpamSettings;
  /** The address at which people open the dashboard; null if it is unknown. */
  readonly dashboardUrl: string | null;
  /** Sends letters to people who sign up or forgot a password; null if no mail server is configured. */
  readonly letters: Pick<Letters, "send"> | null;
  /** Sends the letters that are stored in the database; null if no mail server is configured. */
  readonly storedLetters: Pick<StoredLetters, "wake"> | null;
  /** Null if no mail server is configured. */
  readonly mailTests: MailService["tests"] | null;
  /** The findings of `formsvc doctor`, without the check that reads the whole file. */
  readonly examine: (age: "now" | "lately") => Promise<readonly Finding[]>;
  /** Takes work that continues after its page was answered. */
  readonly background: Background;
  /** Why no session can be checked now; null if sessions can be checked. */
  readonly blindness: () => Blindness | null;
  /** Limits how often an account or an address may do something. */
  readonly limiter: RateLimiter;
  /** Reports that submissions may have come. */
  readonly news: Pick<News, "listen">;
  /** Slots for pages that read submissions one by one. */
  readonly searches: SearchSlots;
  /** The spool for files that are imported. */
  readonly imports: ImportSpool;
  /** Reports that settings changed, so that the server reads again what it caches of them. */
  readonly onChange: (kind: "write" | "danger") => MaybeLater<void>;
}
