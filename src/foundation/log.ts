import { pino, stdSerializers, type Logger } from "pino";
import pretty from "pino-pretty";

export type Log = Logger;

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** `auto` is `pretty` on a terminal and `json` elsewhere. */
export type LogFormat = "auto" | "json" | "pretty";

/**
 * A logger that writes one line an event to standard output. Keys, bodies and header values never reach it: callers
 * pass named facts, and the paths below are removed all the same should one ever be passed by mistake.
 */
export function createLog(level: LogLevel, format: LogFormat): Log {
  const isPretty = format === "pretty" || (format === "auto" && process.stdout.isTTY);
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.err },
    redact: {
      paths: ["authorization", "*.authorization", "key", "*.key", "secret", "*.secret"],
      censor: "[redacted]",
    },
  };
  if (!isPretty) return pino(options);
  return pino(
    options,
    pretty({ translateTime: "HH:MM:ss.l", sync: true, colorize: process.env["NO_COLOR"] === undefined }),
  );
}
