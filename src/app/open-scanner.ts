import type { ServedDatabase } from "../database/served-database.ts";
import { Clamd } from "../files/clamd.ts";
import type { FileLinks } from "../files/file-links.ts";
import { countUnscanned } from "../files/scan-store.ts";
import { parseClamdAddress } from "../foundation/clamd-address.ts";
import { noMetrics } from "../foundation/metrics.ts";
import type { Deliverer } from "../outbox/sending/deliverer.ts";
import { FileScanner, SCAN_RESULTS } from "../submissions/files/file-scanner.ts";
import type { News } from "../submissions/find/news.ts";
import type { ServiceParts } from "./parts.ts";
import type { Upkeep } from "./upkeep.ts";

interface ScannerParts {
  readonly fileLinks: FileLinks;
  readonly deliverer: Deliverer;
  readonly served: ServedDatabase;
  readonly news: News;
  readonly upkeep: Upkeep;
}

/** Opens the scanner of files that forms bring. */
export function openScanner(
  { db, config: { files }, clock, log, metrics }: ServiceParts,
  { fileLinks, deliverer, served, news, upkeep }: ScannerParts,
): FileScanner {
  const count = (metrics ?? noMetrics).counter(
    "formsvc_file_scans_total",
    "Scans of files for viruses, by their result; failed are those without a verdict.",
    "result",
    SCAN_RESULTS,
  );
  (metrics ?? noMetrics).gauges(
    "formsvc_files_without_verdict",
    "Files that wait for the virus scanner, and those that it did not scan in time.",
    "state",
    async () => new Map(Object.entries(await db.read(countUnscanned))),
  );
  return new FileScanner({
    db,
    clamd: files.clamd === null ? null : new Clamd(parseClamdAddress(files.clamd)),
    whenUnscanned: files.whenUnscanned === "keep" ? "kept" : "refused",
    linkFiles: (...data) => fileLinks.linkRow(...data),
    clock,
    log,
    count,
    onQueued() {
      deliverer.reload();
      served.notifyOthers();
      news.announce();
    },
    onDeleted() {
      served.cleaner.note(1);
      upkeep.clearLog();
    },
  });
}
