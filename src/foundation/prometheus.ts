import type { MaybeLater } from "./maybe-later.ts";
import { SingleFlight } from "./single-flight.ts";
import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { FormsvcError } from "./errors.ts";
import type { ExposedMetrics, Metrics } from "./metrics.ts";
import { version } from "./version.ts";

/** The metrics of one server and of its process, in the format of Prometheus. */
export function createMetrics(token: string | null): ExposedMetrics {
  const registry = new Registry();
  const build = new Gauge({
    name: "formsvc_build_info",
    help: "Always 1; the version is a label.",
    labelNames: ["version"],
    registers: [registry],
  });
  build.set({ version }, 1);
  const missing = new Counter({
    name: "formsvc_metrics_missing_total",
    help: "Metrics that answers left out, because the database did not give them in a second.",
    registers: [registry],
  });
  const bounded = <Value>(read: () => MaybeLater<Value>) => inTime(read, () => missing.inc());
  const metrics: ExposedMetrics = {
    token,
    contentType: registry.contentType,
    render: () => registry.metrics(),
    counter(name, help, label, known) {
      const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
      for (const value of known) counter.inc({ [label]: value }, 0);
      const children = new Map<string, { inc(events: number): void }>();
      return (value, events = 1) => remembered(children, value, () => counter.labels(value)).inc(events);
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
      const readInTime = bounded(read);
      const collect = async function collect(this: Gauge): Promise<void> {
        const value = await readInTime();
        if (value === null) this.remove();
        else this.set(value);
      };
      registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
    },
    gauges(name, help, label, read) {
      const readInTime = bounded(read);
      const collect = async function collect(this: Gauge): Promise<void> {
        const values = await readInTime();
        this.reset();
        for (const [labelValue, value] of values ?? []) this.labels(labelValue).set(value);
      };
      registry.registerMetric(new Gauge({ name, help, labelNames: [label], registers: [], collect }));
    },
  };
  measureProcess(metrics, registry);
  return metrics;
}

/** The longest wait for a value. All values are read at once, and a scraper gives up after ten seconds. */
const LONGEST_READ_MS = 1000;

/**
 * Reads a value, or returns null if the database does not give it in time, because the other metrics are needed most at such a time. While
 * a read is under way no second one begins, however many scrapers ask.
 */
function inTime<Value>(read: () => MaybeLater<Value>, onMissing: () => void): () => Promise<Value | null> {
  const reading = new SingleFlight<Value>();
  return async () => {
    const underWay = reading.run(async () => read());
    const late = Promise.withResolvers<typeof LATE>();
    const limit = setTimeout(late.resolve, LONGEST_READ_MS, LATE);
    try {
      const value = await Promise.race([underWay, late.promise]);
      if (value !== LATE) return value;
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
    } finally {
      clearTimeout(limit);
    }
    onMissing();
    return null;
  };
}

const LATE = Symbol("late");

/** Time between two samples of the event loop's delay. */
const LAG_RESOLUTION_MS = 20;

/**
 * The library's own set of process metrics watches every garbage collection, which costs a post more than all other metrics. Ours are read
 * only when the metrics are requested, and have the names that dashboards know.
 */
function measureProcess(metrics: Metrics, registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  delay.enable();
  metrics.gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "Delay of the event loop since the last look, 99th percentile.",
    () => {
      const seconds = Math.max(0, delay.percentile(99) / 1e9 - LAG_RESOLUTION_MS / 1000);
      delay.reset();
      return seconds;
    },
  );
  registry.registerMetric(
    new Counter({
      name: "process_cpu_seconds_total",
      help: "Processor time that the process has used.",
      registers: [],
      collect(this: Counter) {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    }),
  );
  const startedAtSeconds = Math.round(performance.timeOrigin) / 1000;
  metrics.gauge("process_start_time_seconds", "When the process began, since 1970.", () => startedAtSeconds);
  metrics.gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  metrics.gauge(
    "nodejs_heap_size_used_bytes",
    "Memory that its objects take.",
    () => process.memoryUsage().heapUsed,
  );
  metrics.gauge("process_open_fds", "Open files and sockets, if /proc shows them.", countOpenFiles);
}

function countOpenFiles(): number | null {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return null;
  }
}

/** Finds a label's child by one look-up. The library would hash all labels each time. */
function remembered<Child>(known: Map<string, Child>, key: string, make: () => Child): Child {
  let child = known.get(key);
  if (child === undefined) {
    child = make();
    known.set(key, child);
  }
  return child;
}
