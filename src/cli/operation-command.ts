import type { z } from "zod";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Operation } from "../operations/operation.ts";
import { confirm, yesOption } from "./flags/arguments.ts";
import { clearLog } from "./output/clear-log.ts";
import { type AnyCommand, type CommandContext, type CommandSpec } from "./command.ts";
import { withDatabase, withNewDatabase } from "./open.ts";
import { operate } from "./operate.ts";
import type { ArgumentValues, OptionSpec, OptionValues } from "./flags/option-values.ts";
import type { Output } from "./output/output.ts";
import type { MakeParts, Terminal } from "./output/terminal.ts";

/** What a command needs to print an answer. */
export interface Printer extends Terminal {
  readonly output: Output;
}

/** How a command prints the answer of its operation. */
interface AnswerPrint<Answer, Input> {
  /** For an answer that is shown only once: what is lost if standard output fails; null if nothing is. */
  readonly mustBeTaken?: (answer: Answer) => string | null;
  /** Prints the answer for people. With `--json` the answer is printed as it is. */
  readonly print: (printer: Printer, answer: Answer, input: Input) => MaybeLater<void>;
  /** Adds a note after the answer, in either form. */
  readonly note?: (printer: Printer, answer: Answer) => MaybeLater<void>;
}

/** The question that a person must confirm first. */
interface Question<Input> {
  readonly text: string;
  /** Put into the input, so that the operation works on the very row that the question names. */
  readonly about?: Partial<Input>;
}

/** A command that runs one operation. */
interface OperationCommandSpec<
  Usage extends string,
  Options extends readonly OptionSpec[],
  Parts,
  Input extends z.ZodObject,
  Answer extends z.ZodType,
>
  extends
    Omit<CommandSpec<Usage, Options>, "action" | "isLocal" | "summary">,
    AnswerPrint<z.output<Answer>, z.input<Input>> {
  readonly operation: Operation<Parts, Input, Answer>;
  /** Defaults to the summary of the operation. */
  readonly summary?: string;
  /** Makes the input before anything is opened, so that its errors are reported first. */
  readonly input: (options: OptionValues<Options>, args: ArgumentValues<Usage>) => z.input<Input>;
  /** Looks up what the question is about, so that nobody is asked about something that cannot be done. */
  readonly check?: (input: z.input<Input>, terminal: Terminal) => Promise<unknown>;
  /** Returns the question; null asks nothing. The command also gets the option `--yes`. */
  readonly ask?: (
    input: z.input<Input>,
    terminal: Terminal,
  ) => MaybeLater<Question<NoInfer<z.input<Input>>> | null>;
  /** Whether the operation deletes content for good that the write-ahead log may still hold. */
  readonly clearsLog?: boolean | ((input: z.input<Input>, terminal: Terminal) => boolean);
  /** Whether the command creates a missing database, because a new installation may begin with it. */
  readonly isFirst?: boolean;
}

type PartsSpec<Parts> =
  MakeParts<Parts> extends [infer Make] ? { readonly parts: Make } : { readonly parts?: undefined };

/** Infers the types of input and answer from the operation, the usage and the options. */
export function operationCommand<
  Parts,
  Input extends z.ZodObject,
  Answer extends z.ZodType,
  const Usage extends string,
  const Options extends readonly OptionSpec[] = readonly [],
>(spec: OperationCommandSpec<Usage, Options, Parts, Input, Answer> & PartsSpec<Parts>): AnyCommand {
  const { operation, parts, input: inputOf, ask, isFirst = false } = spec;
  const make = (parts === undefined ? [] : [parts]) as MakeParts<Parts>;
  type Values = OptionValues<Options> & { readonly yes: boolean };
  return {
    ...spec,
    summary: spec.summary ?? operation.summary,
    options: [...(spec.options ?? []), ...(ask === undefined ? [] : [yesOption])],
    action: (context: CommandContext, options: Values, args: ArgumentValues<Usage>) => {
      const given = inputOf(options, args);
      const work = async (terminal: Terminal): Promise<void> => {
        if (ask !== undefined && !options.yes) await spec.check?.(given, terminal);
        const question = (await ask?.(given, terminal)) ?? null;
        if (question !== null) await confirm(question.text, options.yes);
        const input = { ...given, ...question?.about };
        const answer = await terminal.perform(operation, input, ...make);
        const clears =
          typeof spec.clearsLog === "function" ? spec.clearsLog(input, terminal) : spec.clearsLog;
        if (clears === true) clearLog(context, terminal.here);
        await printAnswer(spec, { ...terminal, output: context.output }, answer, input);
      };
      return operate(context, work, isFirst ? withNewDatabase : withDatabase);
    },
  };
}

async function printAnswer<Answer, Input>(
  { mustBeTaken, print, note }: AnswerPrint<Answer, Input>,
  printer: Printer,
  answer: Answer,
  input: Input,
): Promise<void> {
  const { output } = printer;
  const consequence = mustBeTaken?.(answer) ?? null;
  if (consequence !== null) output.mustBeTaken(consequence);
  if (output.isJson) output.json(answer);
  else await print(printer, answer, input);
  await note?.(printer, answer);
}
