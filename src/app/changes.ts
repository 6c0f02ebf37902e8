import type { ChangeListener, ChangeWatch } from "../database/database.ts";
import { databaseUpgraded } from "../foundation/events.ts";
import { memoryHead } from "../history/spam-memory.ts";
import { deliveryHeads } from "../outbox/queue/delivery-heads.ts";
import type { Deliverer } from "../outbox/sending/deliverer.ts";
import { newsHead } from "../submissions/find/news.ts";
import type { Memories } from "./memories.ts";
import type { Engine, ServiceParts } from "./parts.ts";
import type { Upkeep } from "./upkeep.ts";

/** What follows from a change of the database, whichever process made it. */
export interface Changes {
  /** Notices what other processes changed. */
  readonly watch: ChangeWatch;
  /**
   * After a change of settings in this process: what is remembered of them is read again, as when another process changed them. After
   * what may have deleted something (`danger`), the write-ahead log is emptied.
   */
  readonly onChange: (kind?: "write" | "danger") => void;
}

interface Changing {
  readonly memories: Memories;
  readonly deliverer: Deliverer;
  readonly upkeep: Upkeep;
}

export function watchChanges(
  { log }: ServiceParts,
  { served }: Engine,
  { memories, deliverer, upkeep }: Changing,
): Changes {
  const { usage, spam, news, verifier, directory } = memories;
  const forgetRows = (): void => {
    usage.forget();
    spam.forget();
    deliverer.reload();
  };
  const listener: ChangeListener = {
    onForeignCommit() {
      served.cleaner.suspect();
      forgetRows();
      news.announce();
    },
    onSettingsChange() {
      forgetRows();
      verifier.forgetRecords();
      directory.forget();
    },
    onUpgrade: () => databaseUpgraded(log),
  };
  return {
    watch: served.watch(listener, [newsHead(news), ...deliveryHeads(deliverer), memoryHead(spam)]),
    onChange(kind = "write") {
      listener.onForeignCommit();
      listener.onSettingsChange();
      // Whoever deletes something hears that it is done when nothing holds it any more.
      if (kind === "danger") upkeep.clearLog();
    },
  };
}
