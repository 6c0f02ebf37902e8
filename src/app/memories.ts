import type { ChangeListener } from "../database/database.ts";
import type { LogCleaner } from "../database/served-database.ts";
import { createEndpointDirectory, type EndpointDirectory } from "../endpoints/endpoint-directory.ts";
import { createBurstMemory } from "../history/burst-memory.ts";
import { createSpamMemory, type SpamMemory } from "../history/spam-memory.ts";
import { createKeyVerifier, type KeyVerifier } from "../keys/verify-key.ts";
import type { Deliverer } from "../outbox/sending/deliverer.ts";
import { createNews, type News } from "../submissions/find/news.ts";
import { createUsageCounter, type UsageCounter } from "../workspaces/usage-counter.ts";
import { spamDefaults } from "./features.ts";
import type { ServiceParts } from "./parts.ts";

/** What a server remembers of its database, so that most posts read nothing. */
export interface Memories {
  readonly verifier: KeyVerifier;
  readonly directory: EndpointDirectory;
  readonly usage: UsageCounter;
  readonly spam: SpamMemory;
  /** Called for each commit that stored submissions, in whatever process. */
  readonly news: News;
}

export function openMemories({ db, config, clock }: ServiceParts): Memories {
  return {
    verifier: createKeyVerifier(db, clock),
    directory: createEndpointDirectory(db, { plans: config.plans, defaults: spamDefaults(config) }),
    usage: createUsageCounter(db),
    spam: createSpamMemory(createBurstMemory()),
    news: createNews(),
  };
}

/** What is remembered of the database is forgotten when another process changed it. */
export function forgetChanges(
  { verifier, directory, usage, spam, news }: Memories,
  cleaner: LogCleaner,
  deliverer: Deliverer,
): Omit<ChangeListener, "onUpgrade"> {
  return {
    onForeignCommit() {
      cleaner.suspect();
      usage.forget();
      spam.forget();
      deliverer.reload();
      news.announce();
    },
    onSettingsChange() {
      usage.forget();
      spam.forget();
      deliverer.reload();
      verifier.forgetRecords();
      directory.forget();
    },
  };
}
