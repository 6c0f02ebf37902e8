import type { MaybeLater } from "./maybe-later.ts";

/**
 * Features register their measurements here. Names begin with `formsvc_` and end in their unit. A label has few values, which we choose:
 * never anything that was posted.
 */
export interface Metrics {
  /** Counts events by one label. The known values start at 0, because otherwise the first event would not show as an increase. */
  counter(
    name: string,
    help: string,
    label: string,
    known: readonly string[],
  ): (value: string, events?: number) => void;
  /** Sorts measured values into buckets, by labels if there are any. */
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly string[],
  ): (value: number, ...labelValues: string[]) => void;
  /**
   * A value that is read for each request of the metrics; null if there is none at the moment. It is left out if the read takes longer than
   * a second or throws a {@link FormsvcError}.
   */
  gauge(name: string, help: string, read: () => MaybeLater<number | null>): void;
  /** A gauge of several values, told apart by one label. */
  gauges(
    name: string,
    help: string,
    label: string,
    read: () => MaybeLater<ReadonlyMap<string, number>>,
  ): void;
}

/** Metrics that a scraper can request. */
export interface ExposedMetrics extends Metrics {
  readonly contentType: string;
  render(): Promise<string>;
  /** The Bearer token that a scraper must send; null means that none is needed. */
  readonly token: string | null;
}

/** Metrics that measure nothing and cost nothing. */
export const noMetrics: Metrics = {
  counter: () => () => {},
  histogram: () => () => {},
  gauge: () => {},
  gauges: () => {},
};

/** Bucket limits in seconds, from the time of a commit to the time after which a client gives up. */
export const LATENCY_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
