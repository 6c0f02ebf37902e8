import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ExposedMetrics } from "./metrics.ts";
import { version } from "./version.ts";

/** The metrics of one server, with those of its process, as Prometheus reads them. */
export function createMetrics(token: string | null): ExposedMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const build = new Gauge({
    name: "formsvc_build_info",
    help: "Always 1; the version is a label.",
    labelNames: ["version"],
    registers: [registry],
  });
  build.set({ version }, 1);
  return {
    token,
    contentType: registry.contentType,
    render: () => registry.metrics(),
    counter(name, help, label) {
      const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
      const known = new Map<string, { inc(): void }>();
      return (value) => remembered(known, value, () => counter.labels(value)).inc();
    },
    histogram(name, help, buckets, labels = []) {
      const made = { name, help, buckets: [...buckets], labelNames: [...labels], registers: [registry] };
      const histogram = new Histogram(made);
      if (labels.length === 0) return (value) => histogram.observe(value);
      const known = new Map<string, { observe(value: number): void }>();
      return (value, ...labelValues) =>
        remembered(known, labelValues.join(" "), () => histogram.labels(...labelValues)).observe(value);
    },
    gauge(name, help, read) {
      const collect = function collect(this: Gauge): void {
        const value = read();
        if (value === null) this.remove();
        else this.set(value);
      };
      registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
    },
    gauges(name, help, label, read) {
      const collect = function collect(this: Gauge): void {
        this.reset();
        for (const [labelValue, value] of read()) this.labels(labelValue).set(value);
      };
      registry.registerMetric(new Gauge({ name, help, labelNames: [label], registers: [], collect }));
    },
  };
}

/** Finding a label's child again costs the library a hash of all labels; this costs one look-up. */
function remembered<Child>(known: Map<string, Child>, key: string, make: () => Child): Child {
  let child = known.get(key);
  if (child === undefined) {
    child = make();
    known.set(key, child);
  }
  return child;
}
