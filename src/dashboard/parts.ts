import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { Blindness } from "../database/database.ts";
import type { DeleteContents } from "../endpoints/delete-endpoint.ts";
import type { MoveContents } from "../endpoints/move-endpoint.ts";
import type { FileLinks } from "../files/file-links.ts";
import type { Background } from "../foundation/background.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Finding } from "../foundation/finding.ts";
import type { Log } from "../foundation/log.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import type { Letters } from "../mail/letters.ts";
import type { MailService } from "../mail/open-mail.ts";
import type { StoredLetters } from "../mail/stored-letters.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { SpamSettings } from "../spam/spam-settings.ts";
import type { ImportSpool } from "../submissions/import/import-spool.ts";
import type { Sleep } from "../sessions/attempt-limits.ts";
import type { SearchSlots } from "../submissions/find/search-slots.ts";
import type { News } from "../submissions/find/news.ts";
import type { TestSlots } from "../webhooks/test-slots.ts";
import type { WorkspaceContents } from "../workspaces/delete-workspace.ts";
import type { HttpSender } from "../webhooks/send.ts";

/** What the pages work with. */
export interface DashboardParts {
  readonly db: AnyDatabase;
  readonly config: Config;
  /** The file that was given with `--config`; null if none was. */
  readonly configFile: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Time between two requests of a visitor, in milliseconds; undefined is the usual one. */
  readonly visitIntervalMs?: number;
  /** How somebody waits who signs in after failures; undefined is by the machine's time. */
  readonly signInSleep?: Sleep;
  readonly keyring: Keyring;
  readonly fileLinks: FileLinks;
  readonly sender: Pick<HttpSender, "send">;
  /** For tests of webhooks. */
  readonly testSlots: TestSlots;
  /** What belongs to an endpoint and goes with it. */
  readonly endpointContents: readonly DeleteContents[];
  /** What belongs to an endpoint and goes along into another workspace. */
  readonly movedContents: readonly MoveContents[];
  /** What belongs to a workspace and goes with it. */
  readonly workspaceContents: WorkspaceContents;
  /** The spam settings of an owner who chose nothing. */
  readonly spamDefaults: SpamSettings;
  /** The address at which people open the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
  /** Sends mail to who signs up or forgot a password; null if no mail server is configured. */
  readonly letters: Pick<Letters, "send"> | null;
  /** Sends the letters of the database; null if no mail server is configured. */
  readonly storedLetters: Pick<StoredLetters, "wake"> | null;
  /** Null if no mail server is configured. */
  readonly mailTests: MailService["tests"] | null;
  /** What `formsvc doctor` finds, but for the check that reads the whole file. */
  readonly examine: (age: "now" | "lately") => Promise<readonly Finding[]>;
  /** Takes work that goes on after the page that began it. */
  readonly background: Background;
  /** Why nobody's session can be checked now; null if it can. */
  readonly blindness: () => Blindness | null;
  /** Counts what an account or an address may do in a time. */
  readonly limiter: RateLimiter;
  /** Says that submissions may have come. */
  readonly news: Pick<News, "listen">;
  /** Places for pages that look at submissions one by one. */
  readonly searches: SearchSlots;
  /** Keeps files that are imported. */
  readonly imports: ImportSpool;
  /** Tells the server that settings changed, so that it reads again what it remembers of them. */
  readonly onChange: (kind: "write" | "danger") => void;
}
