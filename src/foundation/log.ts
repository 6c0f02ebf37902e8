import { destination, type DestinationStream, pino, stdSerializers, type Logger } from "pino";
import pretty from "pino-pretty";

export type Log = Logger;

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** `auto` is `pretty` on a terminal and `json` elsewhere. */
export type LogFormat = "auto" | "json" | "pretty";

/** What keys and webhook secrets look like, wherever in a line they stand. */
const SECRET = /f[sp]k_[0-9A-Za-z]{8,}|whsec_[0-9A-Za-z+/=_]{8,}/g;

/** Bytes of lines that wait for a slow reader of standard output; further lines are dropped until it catches up. */
const MAX_WAITING_BYTES = 4_194_304;
/** Lines are written together, this much later at most or once they fill a block. */
const FLUSH_AFTER_MS = 20;
const BLOCK_BYTES = 8192;

/**
 * A logger that writes one line an event to standard output. Callers pass named facts, never bodies or header values;
 * a key that gets into a line all the same, in an error's message say, is cut out of it.
 *
 * @param sink makes what takes the lines of the JSON format.
 */
export function createLog(
  level: LogLevel,
  format: LogFormat,
  sink: () => DestinationStream = gatheringDestination,
): Log {
  const isPretty = format === "pretty" || (format === "auto" && process.stdout.isTTY);
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.err },
    hooks: { streamWrite: redactLine },
  };
  if (!isPretty) return pino(options, sink());
  return pino(
    options,
    pretty({ translateTime: "HH:MM:ss.l", sync: true, colorize: process.env["NO_COLOR"] === undefined }),
  );
}

/**
 * Standard output, written asynchronously and in blocks: a write a line would cost a post a tenth of its time, and a
 * reader that hangs must hang nobody. No timer runs while nothing is logged; what waits at the end is written then.
 */
function gatheringDestination(): DestinationStream {
  const sink = destination({ dest: 1, sync: false, minLength: BLOCK_BYTES, maxLength: MAX_WAITING_BYTES });
  process.on("exit", () => sink.flushSync());
  let scheduled = false;
  const flush = (): void => {
    scheduled = false;
    sink.flush();
  };
  return {
    write(line) {
      sink.write(line);
      if (scheduled) return;
      scheduled = true;
      setTimeout(flush, FLUSH_AFTER_MS);
    },
  };
}

function redactLine(line: string): string {
  const suspicious = line.includes("fsk_") || line.includes("fpk_") || line.includes("whsec_");
  return suspicious ? line.replace(SECRET, "[redacted]") : line;
}
