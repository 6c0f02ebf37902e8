import { pino, stdSerializers, type Logger } from "pino";
import { systemClock, toIsoTime } from "./clock.ts";
import { describeLostLines } from "./events.ts";
import { gatherLines, type LogOutput } from "./log-output.ts";

export type Log = Logger;

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** `auto` is `pretty` on a terminal and `json` elsewhere. */
export type LogFormat = "auto" | "json" | "pretty";

/** Keys, tokens and webhook secrets, anywhere in a line. */
const SECRET = /f(?:[sp]k|at)_[0-9A-Za-z]{8,}|whsec_[0-9A-Za-z+/=_]{8,}/g;
/** The beginnings of these. Few lines have one, and to look for them takes less time than the pattern. */
const BEGINNINGS = ["fsk_", "fpk_", "fat_", "whsec_"];

/** Renders a line of JSON as its reader sees it. */
type RenderLine = (line: string) => string;

/** The server's log, in the form that the configuration or the output asks for. */
export async function openLog(level: LogLevel, format: LogFormat): Promise<Log> {
  // Read even if the format is given: this makes Node open a pipe so that a write to a full one fails instead of blocking.
  const onTerminal = process.stdout.isTTY;
  const isPretty = format === "pretty" || (format === "auto" && onTerminal);
  return createLog(level, gatherLines(noteLostLines), isPretty ? await openPretty() : null);
}

/** Loaded only if somebody reads the log on a terminal: it takes 2 MB. */
async function openPretty(): Promise<RenderLine> {
  const { prettyFactory } = await import("pino-pretty");
  return prettyFactory({
    translateTime: "HH:MM:ss.l",
    // A variable that is set but empty counts as not set: no-color.org.
    colorize: (process.env["NO_COLOR"] ?? "") === "",
  });
}

/**
 * A logger that writes one line for each event. Callers pass named facts, never bodies or header values. A key that gets into a line all
 * the same, for example in an error's message, is removed from it.
 *
 * @param render null means lines of JSON.
 */
export function createLog(level: LogLevel, output: LogOutput, render: RenderLine | null = null): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${isoNow()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.err },
    hooks: { streamWrite: redactLine },
  };
  if (render === null) return pino(options, output);
  return pino(options, { write: (line: string) => output.write(render(line)) });
}

function noteLostLines(lines: number): string {
  return describeLostLines(isoNow(), lines);
}

function isoNow(): string {
  return toIsoTime(systemClock.now());
}

function redactLine(line: string): string {
  return BEGINNINGS.some((beginning) => line.includes(beginning)) ? line.replace(SECRET, "[redacted]") : line;
}
