import type { z } from "zod";
import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Operation, StreamOperation } from "../operations/operation.ts";
import type { ImportedFile } from "../submissions/import/imported-file.ts";

/** A database of this machine that is open. */
export interface Here {
  readonly db: AnyDatabase;
  readonly config: Config;
}

/** Makes what an operation works with beside the database, if anything. A server has its own. */
export type MakeParts<Parts> = unknown extends Parts ? [] : [(here: Here) => MaybeLater<Parts>];

/** Runs an operation as whoever types the command. */
export type PerformCommand = <Parts, Input extends z.ZodObject, Output extends z.ZodType>(
  operation: Operation<Parts, Input, Output>,
  input: z.input<Input>,
  ...parts: MakeParts<Parts>
) => Promise<z.output<Output>>;

/** The same for an operation whose output comes in parts. */
type Stream = <Parts, Input extends z.ZodObject, Part extends z.ZodType>(
  operation: StreamOperation<Parts, Input, Part>,
  input: z.input<Input>,
  ...parts: MakeParts<Parts>
) => Promise<AsyncGenerator<z.output<Part>>>;

/** The same for an operation that reads a file of this machine. */
type Bring = <Input extends z.ZodObject, Output extends z.ZodType>(
  operation: Operation<{ readonly source: ImportedFile }, Input, Output>,
  input: z.input<Input>,
  file: ImportedFile,
) => Promise<z.output<Output>>;

/** The place in which a command runs operations: beside the database, or at a distance. */
export interface Terminal {
  readonly perform: PerformCommand;
  readonly stream: Stream;
  readonly bring: Bring;
  /** What is here alone; null at a distance. */
  readonly here: Here | null;
}

export type TerminalHere = Terminal & { readonly here: Here };
