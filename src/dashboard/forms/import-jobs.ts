import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { readSchema } from "../../endpoints/endpoint-store.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { Background } from "../../foundation/background.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import {
  findFormat,
  type ImportColumn,
  type ImportFormat,
  readColumns,
} from "../../submissions/import/examine-import.ts";
import type { ReceivedFile } from "../../submissions/import/import-spool.ts";
import { importSubmissions } from "../../submissions/import/import-submissions.ts";
import { importTable } from "../../submissions/import/import-table.ts";
import type { DashboardParts } from "../parts.ts";
import type { Visit } from "../routes.ts";

/** The choices of how a file is read. */
export interface ImportChoices {
  /** Null means that the format is detected. */
  readonly format: ImportFormat | null;
  readonly encoding: string | null;
  /** Columns with a chosen field, as `COLUMN=FIELD`. The fields of all other columns are found by their names. */
  readonly map: readonly string[];
}

type Outcome = z.output<typeof importTable.output> & {
  /** The number of known posts that another form has. */
  readonly elsewhere: number;
  /** The number of imported posts that got another id. */
  readonly newIds: number;
};

export type ImportState =
  | { readonly kind: "running"; readonly done: number; readonly total: number | null }
  | { readonly kind: "ended"; readonly outcome: Outcome }
  | { readonly kind: "failed"; readonly message: string };

/** A file that somebody imports into a form. It is first examined, and then imported as it was examined. */
export interface ImportJob {
  /** A random text in the page, so that a page about an earlier file cannot change this job. */
  readonly mark: string;
  readonly endpointId: string;
  readonly file: ReceivedFile;
  choices: ImportChoices;
  /** The format of the file; null until it is known. */
  format: ImportFormat | null;
  /** The columns of a table, with fields found by the names alone. */
  found: readonly ImportColumn[];
  /** The columns, with the chosen fields. */
  columns: readonly ImportColumn[];
  step: "look" | "import";
  state: ImportState;
  /** Resolves when the step has ended, with or without success. */
  work: Promise<void>;
}

/** The largest number of accounts whose last import is kept. A further one drops the oldest. */
const MAX_JOBS = 200;
/** The largest number of refused rows that a page shows. */
export const MAX_SHOWN = 100;

/** The last import of each account on this server. It is in memory only; what an import has stored does not depend on it. */
export class ImportJobs {
  readonly #parts: Pick<DashboardParts, "db" | "background">;
  readonly #jobs = new BoundedMap<string, ImportJob>(MAX_JOBS);

  constructor(parts: Pick<DashboardParts, "db" | "background">) {
    this.#parts = parts;
  }

  /** The account's last import if it is for this form, else null. */
  find(accountId: string, endpointId: string): ImportJob | null {
    const job = this.#jobs.get(accountId);
    return job?.endpointId === endpointId ? job : null;
  }

  /** Adds a file in place of the account's earlier one, and begins to examine it. */
  add(visit: Visit, endpoint: Endpoint, file: ReceivedFile, choices: ImportChoices): ImportJob {
    const job: ImportJob = {
      mark: randomUUID(),
      endpointId: endpoint.id,
      file,
      choices,
      format: null,
      found: [],
      columns: [],
      step: "look",
      state: RUNNING,
      work: Promise.resolve(),
    };
    this.#jobs.delete(visit.viewer.accountId);
    this.#jobs.set(visit.viewer.accountId, job);
    this.look(visit, endpoint, job);
    return job;
  }

  /** Examines the file according to the job's choices. */
  look(visit: Visit, endpoint: Endpoint, job: ImportJob): void {
    this.#begin(job, "look", async () => {
      const { encoding, map } = job.choices;
      job.found = [];
      job.columns = [];
      const format = job.choices.format ?? (await findFormat(job.file, encoding));
      job.format = format;
      if (format === "ndjson") return this.#run(visit, job, { isDry: true });
      const definition = await this.#parts.db.read(() => readSchema(endpoint));
      const asked = { format, encoding, definition };
      job.found = await readColumns(job.file, { ...asked, map: [] });
      // These columns are shown if the chosen ones are refused.
      job.columns = job.found;
      if (map.length > 0) job.columns = await readColumns(job.file, { ...asked, map });
      return this.#run(visit, job, { isDry: true });
    });
  }

  /** Imports the file as it was examined. */
  bring(visit: Visit, job: ImportJob): void {
    this.#begin(job, "import", async () => {
      const outcome = await this.#run(visit, job, { isDry: false });
      await job.file.close();
      return outcome;
    });
  }

  async #run(visit: Visit, job: ImportJob, { isDry }: { readonly isDry: boolean }): Promise<Outcome> {
    const { endpointId: endpoint, format, choices } = job;
    const more = {
      parts: { source: { ...job.file, bytes: () => readUntilClosing(job.file, this.#parts.background) } },
      onProgress: ({ done, total }: { readonly done: number; readonly total: number | null }): void => {
        job.state = { kind: "running", done, total };
      },
    };
    if (format === "ndjson") {
      const input = { endpoint, imported_from: "ndjson", dry_run: isDry } as const;
      const {
        added,
        known,
        elsewhere = 0,
        new_ids: newIds = 0,
      } = (await visit.performWith(more, importSubmissions, input)).imported;
      return { rows: added + known, imported: added, known, elsewhere, newIds, refused: [], unmapped: [] };
    }
    const input = { endpoint, format: format ?? "csv", map: choices.map, encoding: choices.encoding };
    // The page says before the import that the rows have no times.
    const chosen = { ...input, without_times: true, dry_run: isDry };
    const outcome = await visit.performWith(more, importTable, chosen);
    return { ...outcome, elsewhere: 0, newIds: 0, refused: outcome.refused.slice(0, MAX_SHOWN) };
  }

  #begin(job: ImportJob, step: ImportJob["step"], work: () => Promise<Outcome>): void {
    job.step = step;
    job.state = RUNNING;
    const run = async (): Promise<void> => {
      try {
        job.state = { kind: "ended", outcome: await job.file.keep(work) };
      } catch (error) {
        const isForeseen = error instanceof FormsvcError && error.code !== "internal";
        job.state = { kind: "failed", message: isForeseen ? error.message : UNFORESEEN };
        if (!isForeseen) throw error;
      }
    };
    job.work = run();
    this.#parts.background.add(job.work);
  }
}

const RUNNING: ImportState = { kind: "running", done: 0, total: null };
const UNFORESEEN =
  "Something went wrong on the server, which its log tells. Rows that came in before are there";

/** No client waits for a job, so it ends as soon as the server begins to stop. */
async function* readUntilClosing(
  file: ReceivedFile,
  background: Background,
): AsyncGenerator<Uint8Array, void> {
  for await (const part of file.bytes()) {
    if (background.isClosing) throw serverStops();
    yield part;
  }
}

function serverStops(): FormsvcError {
  return new FormsvcError("unavailable", "The server is being restarted; choose the file again in a moment");
}
