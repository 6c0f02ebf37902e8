import { createEndpointDirectory, type EndpointDirectory } from "../endpoints/endpoint-directory.ts";
import { createBurstMemory } from "../history/burst-memory.ts";
import { createSpamMemory, type SpamMemory } from "../history/spam-memory.ts";
import { createKeyVerifier, type KeyVerifier } from "../keys/verify-key.ts";
import { createNews, type News } from "../submissions/find/news.ts";
import { createUsageCounter, type UsageCounter } from "../workspaces/usage-counter.ts";
import { spamDefaults } from "./features.ts";
import type { ServiceParts } from "./parts.ts";

/** What a server holds of its database in memory, so that most posts read nothing. */
export interface Memories {
  readonly verifier: KeyVerifier;
  readonly directory: EndpointDirectory;
  readonly usage: UsageCounter;
  readonly spam: SpamMemory;
  /** Announces each commit that stored submissions, by this process or another one. */
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
