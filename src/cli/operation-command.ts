import type { z } from "zod";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Operation } from "../operations/operation.ts";
import { confirm, yesOption } from "./arguments.ts";
import { clearLog } from "./clear-log.ts";
import { type AnyCommand, type CommandContext, type CommandSpec } from "./command.ts";
import { withDatabase, withNewDatabase } from "./open.ts";
import { operate } from "./operate.ts";
import type { ArgumentValues, OptionSpec, OptionValues } from "./option-values.ts";
import type { Output } from "./output.ts";
import type { MakeParts, Terminal } from "./terminal.ts";

/** What an answer is printed with. */
export interface Printer extends Terminal {
  readonly output: Output;
}

/** How a command prints what its operation answered. */
interface AnswerPrint<Answer, Input> {
  /** Of what is shown only once: the consequence if standard output does not take it. */
  readonly mustBeTaken?: (answer: Answer) => string | null;
  /** For people. With `--json` the answer is printed as it is. */
  readonly print: (printer: Printer, answer: Answer, input: Input) => MaybeLater<void>;
  /** What is said after either form of the answer. */
  readonly note?: (printer: Printer, answer: Answer) => MaybeLater<void>;
}

/** What a person is asked before it is done. */
interface Question<Input> {
  readonly text: string;
  /** Goes into the input: it is done to the very row that the question names. */
  readonly about?: Partial<Input>;
}

/** A command that is the door of one operation. */
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
  /** Without it the operation's. */
  readonly summary?: string;
  /** Made before anything is opened, so that what is wrong with it is said first. */
  readonly input: (options: OptionValues<Options>, args: ArgumentValues<Usage>) => z.input<Input>;
  /** Looks up what somebody will be asked about, so that nobody is asked about what cannot be done. */
  readonly check?: (input: z.input<Input>, terminal: Terminal) => Promise<unknown>;
  /** Null asks nothing. The command has `--yes` too. */
  readonly ask?: (
    input: z.input<Input>,
    terminal: Terminal,
  ) => MaybeLater<Question<NoInfer<z.input<Input>>> | null>;
  /** Whether it deletes for good what the database's log may still hold. */
  readonly clearsLog?: boolean;
  /** Whether a new installation may begin with it. */
  readonly isFirst?: boolean;
}

type PartsSpec<Parts> =
  MakeParts<Parts> extends [infer Make] ? { readonly parts: Make } : { readonly parts?: undefined };

/** Gives input and answer the types that follow from the operation, the usage and the options. */
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
        if (spec.clearsLog) clearLog(context, terminal.here);
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
