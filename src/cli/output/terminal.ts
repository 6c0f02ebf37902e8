import type { z } from "zod";
import type { Config } from "../../config/config.ts";
import type { AnyDatabase } from "../../database/any-database.ts";
import type { MaybeLater } from "../../foundation/maybe-later.ts";
import type { Operation, StreamOperation } from "../../operations/operation.ts";
import type { ImportedFile } from "../../submissions/import/imported-file.ts";

/** The open database of this machine. */
export interface Here {
  readonly db: AnyDatabase;
  readonly config: Config;
}

/** A function that makes the parts that an operation needs besides the database; none if it needs none. A server makes its own. */
export type MakeParts<Parts> = unknown extends Parts ? [] : [(here: Here) => MaybeLater<Parts>];

/** Runs an operation as the person who types the command. */
export type PerformCommand = <Parts, Input extends z.ZodObject, Output extends z.ZodType>(
  operation: Operation<Parts, Input, Output>,
  input: z.input<Input>,
  ...parts: MakeParts<Parts>
) => Promise<z.output<Output>>;

/** Like {@link PerformCommand}, for an operation whose output comes in parts. */
type Stream = <Parts, Input extends z.ZodObject, Part extends z.ZodType>(
  operation: StreamOperation<Parts, Input, Part>,
  input: z.input<Input>,
  ...parts: MakeParts<Parts>
) => Promise<AsyncGenerator<z.output<Part>>>;

/** Like {@link PerformCommand}, for an operation that reads a file of this machine. */
type Bring = <Input extends z.ZodObject, Output extends z.ZodType>(
  operation: Operation<{ readonly source: ImportedFile }, Input, Output>,
  input: z.input<Input>,
  file: ImportedFile,
) => Promise<z.output<Output>>;

/** Where a command runs its operations: on the database of this machine, or on a server. */
export interface Terminal {
  readonly perform: PerformCommand;
  readonly stream: Stream;
  readonly bring: Bring;
  /** The open database; null if the operations run on a server. */
  readonly here: Here | null;
}

export type TerminalHere = Terminal & { readonly here: Here };
