import { MINUTE_MS } from "./time-units.ts";

/** A clock that shows times in one time zone. */
export interface ZonedClock {
  /** Its name in the IANA database. */
  readonly zone: string;
  /** The milliseconds that the zone is ahead of UTC at this time. */
  offsetMs(time: number): number;
}

/** Zones change their offset only at full quarters of an hour. */
const QUARTER_MS = 900_000;

/** @param zone a name that `Intl` knows. The clock caches the last offset, because times mostly come in order. */
export function createZonedClock(zone: string): ZonedClock {
  const format = new Intl.DateTimeFormat("en", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  let known: { readonly quarter: number; readonly offsetMs: number } | null = null;
  return {
    zone,
    offsetMs(time) {
      const quarter = Math.floor(time / QUARTER_MS);
      if (known?.quarter !== quarter) known = { quarter, offsetMs: offsetAt(format, time) };
      return known.offsetMs;
    },
  };
}

function offsetAt(format: Intl.DateTimeFormat, time: number): number {
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const shown = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return shown - Math.floor(time / 1000) * 1000;
}

/** The local time as spreadsheets read it: `2026-01-31 14:05:00`. */
export function localTime(clock: ZonedClock, time: number): string {
  return new Date(time + clock.offsetMs(time)).toISOString().slice(0, 19).replace("T", " ");
}

/** The local time with the zone's offset: `2026-01-31T14:05:00.000+01:00`. */
export function offsetTime(clock: ZonedClock, time: number): string {
  const offsetMs = clock.offsetMs(time);
  const minutes = Math.round(Math.abs(offsetMs) / MINUTE_MS);
  const digits = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0"));
  const local = new Date(time + offsetMs).toISOString().slice(0, 23);
  return `${local}${offsetMs < 0 ? "-" : "+"}${digits.join(":")}`;
}
