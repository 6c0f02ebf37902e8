import type { Clock } from "../foundation/clock.ts";
import type { Finding } from "../foundation/finding.ts";
import type { LetterContent } from "../mail/letters/letter-store.ts";
import { oneLine } from "../mail/compose/mail-text.ts";
import type { ReportedProblems } from "./reported-problems.ts";

interface OperatorAlertParts {
  readonly examine: () => Promise<readonly Finding[]>;
  /** The name of this server in the letter; null if it has no public name. */
  readonly host: string | null;
  /** The page that shows the findings; null if there is none. */
  readonly systemUrl: string | null;
  readonly clock: Clock;
  /** What was reported to the operator. It outlives this process. */
  readonly reported: {
    read(): Promise<ReportedProblems>;
    /** Writes the letter and what it reports, both or neither. False if an earlier letter still waits for the mail server. */
    report(letter: LetterContent, problems: ReportedProblems): Promise<boolean>;
  };
}

/**
 * The time between two examinations, and from the start to the first one, so that a server that starts again and again writes no letters.
 */
const EXAMINE_EVERY_MS = 300_000;
const LETTER_EVERY_MS = 600_000;
/** The largest number of findings that one letter names. */
const MAX_NAMED = 20;
const MAX_LENGTH = 400;

/** Problems that keep other things from being examined. */
const HIDING_PROBLEMS: ReadonlySet<string> = new Set([
  "config.file",
  "database.file",
  "database.server",
  "doctor.check",
  "database.schema",
  "database.structure",
]);

interface Change {
  readonly began: readonly Finding[];
  readonly ended: readonly Finding[];
  /** The number of problems that were reported before and have not ended. */
  readonly stillCount: number;
}

/**
 * Reports to the operator by e-mail when problems that `doctor` finds begin and end: each once, several in one letter, also over restarts.
 */
export class OperatorAlert {
  readonly #parts: OperatorAlertParts;
  /** What was reported; null until it is read. */
  #reported: ReportedProblems | null = null;
  #examinedAt: number;
  #writtenAt = -Infinity;

  constructor(parts: OperatorAlertParts) {
    this.#parts = parts;
    this.#examinedAt = parts.clock.now();
  }

  /** Examines if it is time to. Call every minute. */
  async look(): Promise<void> {
    if (this.#isWithin(EXAMINE_EVERY_MS, this.#examinedAt)) return;
    this.#examinedAt = this.#parts.clock.now();
    this.#reported ??= await this.#parts.reported.read();
    await this.#report(this.#reported, problemsOf(this.#reported, await this.#parts.examine()));
  }

  /** Whether less than this time has passed. Also false after the clock was set back. */
  #isWithin(ms: number, since: number): boolean {
    return Math.abs(this.#parts.clock.now() - since) < ms;
  }

  async #report(reported: ReportedProblems, current: ReportedProblems): Promise<void> {
    const change = compare(reported, current);
    if (change.began.length + change.ended.length === 0) return;
    if (this.#isWithin(LETTER_EVERY_MS, this.#writtenAt)) return;
    if (!(await this.#parts.reported.report(this.#write(change), current))) return;
    this.#reported = current;
    this.#writtenAt = this.#parts.clock.now();
  }

  #write({ began, ended, stillCount }: Change): LetterContent {
    const { host, systemUrl } = this.#parts;
    const named = [
      ...began.map((finding) => `PROBLEM: ${describe(finding)}`),
      ...ended.map((finding) => `Ended: ${describe(finding)}`),
    ];
    const more = named.length - MAX_NAMED;
    const counts = [...count(began.length, "began"), ...count(ended.length, "ended")].join(", ");
    return {
      subject: `formsvc${host === null ? "" : ` at ${host}`}: ${counts}`,
      paragraphs: [
        ...named.slice(0, MAX_NAMED),
        ...(more > 0 ? [`${more} more are not named here.`] : []),
        ...(stillCount > 0 ? [`As before: ${stillCount} that you were told of.`] : []),
        "The command doctor says what to do.",
      ],
      link: systemUrl === null ? null : { label: "See what doctor finds", url: systemUrl },
    };
  }
}

/** The problems by topic. A message is shortened as in the letter, because it may quote what a stranger chose. */
function problemsOf(reported: ReportedProblems, findings: readonly Finding[]): ReportedProblems {
  const problems = findings.filter(({ ok }) => !ok);
  // A problem that could not be examined is not known to have ended.
  const isWhole = problems.every(({ name }) => !HIDING_PROBLEMS.has(name));
  return new Map([
    ...(isWhole ? [] : reported),
    ...problems.map(
      (each) => [topicOf(each), { ...each, message: oneLine(each.message, MAX_LENGTH) }] as const,
    ),
  ]);
}

/**
 * The topic of a problem: its name and advice. The message is not used, because its times and counts may change while the problem lasts.
 */
function topicOf({ name, advice }: Finding): string {
  return advice === null || typeof advice === "string" ? name : `${name} ${JSON.stringify(advice)}`;
}

function compare(reported: ReportedProblems, current: ReportedProblems): Change {
  const without = (some: ReportedProblems, others: ReportedProblems): Finding[] =>
    [...some].filter(([topic]) => !others.has(topic)).map(([, finding]) => finding);
  const began = without(current, reported);
  return { began, ended: without(reported, current), stillCount: current.size - began.length };
}

function describe({ name, message }: Finding): string {
  return `${name}: ${message}`;
}

function count(problems: number, what: string): string[] {
  return problems === 0 ? [] : [`${problems} ${problems === 1 ? "problem" : "problems"} ${what}`];
}
