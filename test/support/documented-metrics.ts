import { readFileSync } from "node:fs";

/** The metrics that a server on a SQLite file does not have. */
export const ONLY_ON_POSTGRESQL: readonly string[] = [
  "formsvc_database_refusals_total",
  "formsvc_database_synchronous_standbys",
  "formsvc_live_servers",
  "formsvc_pulse_age_seconds",
  "formsvc_standby_wait_seconds",
];

/** Lists the metrics that the page on monitoring names, sorted. */
export function documentedMetrics(): string[] {
  const page = readFileSync(new URL("../../docs/monitoring.md", import.meta.url), "utf8");
  const named = [...page.matchAll(/\b(?:formsvc|process|nodejs)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ""),
  );
  return [...new Set(named)].toSorted();
}

/** Lists the metrics of an answer in Prometheus' format, sorted. */
export function servedMetrics(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? "").toSorted();
}
