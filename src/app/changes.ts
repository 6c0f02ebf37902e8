import type { ChangeListener, ChangeWatch } from "../database/database.ts";
import { paced } from "../foundation/paced.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import { databaseUpgraded } from "../foundation/events.ts";
import { memoryHead } from "../history/spam-memory.ts";
import { deliveryHeads } from "../outbox/queue/delivery-heads.ts";
import type { Deliverer } from "../outbox/sending/deliverer.ts";
import { newsHead } from "../submissions/find/news.ts";
import type { Memories } from "./memories.ts";
import type { Engine, ServiceParts } from "./parts.ts";
import type { Upkeep } from "./upkeep.ts";

/** What the server does when the database was changed, by this process or another one. */
export interface Changes {
  /** Notices what other processes changed. */
  readonly watch: ChangeWatch;
  /**
   * Call after this process changed settings: what is held of them in memory is read again, as after a change by another process. After a
   * change that may have deleted something (`danger`), the write-ahead log is emptied too. When the promise resolves, no former setting is used.
   */
  readonly onChange: (kind?: "write" | "danger") => MaybeLater<void>;
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
  // An account that changes something in a loop would otherwise have the recipients of everybody read all the time.
  const reload = paced(
    () => deliverer.reload(),
    () => deliverer.readingMs,
  );
  const forgetRows = (): void => {
    usage.forget();
    spam.forget();
    deliverer.forgetRecipients();
    reload();
  };
  const listener: ChangeListener = {
    onForeignCommit() {
      served.cleaner.suspect();
      forgetRows();
      news.announce();
    },
    onSettingsChange(changed) {
      forgetRows();
      verifier.forgetRecords(changed);
      directory.forget(changed);
    },
    onUpgrade: () => databaseUpgraded(log),
  };
  const watch = served.watch(listener, [newsHead(news), ...deliveryHeads(deliverer), memoryHead(spam)]);
  return {
    watch,
    onChange(kind = "write") {
      listener.onForeignCommit();
      // A deletion counts as done only when no file holds the deleted content any more.
      if (kind === "danger") upkeep.clearLog();
      return watch.noticeOwn();
    },
  };
}
