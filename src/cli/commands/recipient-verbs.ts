import type { z } from "zod";
import type { Operation } from "../../operations/operation.ts";
import type { endpointChoice } from "../../recipients/reach-recipient.ts";
import type { AnyCommand } from "../command.ts";
import { labelEndpoints } from "../flags/endpoint-label.ts";
import { operationCommand, type Printer } from "../operation-command.ts";

type Choice = z.ZodObject<typeof endpointChoice>;
type Deleted = z.ZodObject<{ deleted: z.ZodArray<z.ZodString> }>;

/** What a list shows of every kind of recipient. */
interface Listed {
  readonly id: string;
  readonly endpoint_id: string;
}

/** The names and texts of one kind of recipient in commands. */
interface ShownKind<Row extends Listed, Reference extends z.ZodObject, Shown extends z.ZodType> {
  readonly noun: "recipient" | "webhook";
  readonly operations: Readonly<
    Record<"show" | "enable" | "disable", Operation<unknown, Reference, Shown>>
  > & {
    readonly list: Operation<unknown, Choice, z.ZodType<{ data: Row[] }>>;
    readonly delete: Operation<unknown, Reference, Deleted>;
  };
  /** How to make one; shown below an empty list. */
  readonly maker: string;
  /** The verb that deletes a recipient. */
  readonly deletes: "remove" | "delete";
  /** The headings of a list after id and endpoint. */
  readonly headings: readonly string[];
  readonly cellsOf: (row: Row) => readonly string[];
  readonly referenceTo: (id: string) => z.input<Reference>;
  /** The question before a recipient is deleted. */
  readonly question: (shown: z.output<Shown>) => string;
  readonly print: (printer: Printer, shown: z.output<Shown>) => void;
}

type Verb = "list" | "show" | "enable" | "disable" | "remove";

/** The verbs that every kind of recipient has. */
export function recipientVerbs<Row extends Listed, Reference extends z.ZodObject, Shown extends z.ZodType>(
  kind: ShownKind<Row, Reference, Shown>,
): Readonly<Record<Verb, AnyCommand>> {
  const { noun, operations, referenceTo, print } = kind;
  const printing = (verb: "show" | "enable" | "disable"): AnyCommand =>
    operationCommand({
      usage: `${verb} <${noun}>`,
      operation: operations[verb],
      input: (_options, [id]) => referenceTo(id),
      print,
    });
  return {
    list: listOf(kind),
    show: printing("show"),
    enable: printing("enable"),
    disable: printing("disable"),
    remove: operationCommand({
      usage: `${kind.deletes} <${noun}>`,
      operation: operations.delete,
      input: (_options, [id]) => referenceTo(id),
      ask: async (input, { perform }) => ({ text: kind.question(await perform(operations.show, input)) }),
      print: ({ output }, { deleted: [id] }) => output.note(`deleted: ${id}`),
    }),
  };
}

function listOf<Row extends Listed, Reference extends z.ZodObject, Shown extends z.ZodType>({
  noun,
  operations,
  maker,
  headings,
  cellsOf,
}: ShownKind<Row, Reference, Shown>): AnyCommand {
  return operationCommand({
    usage: "list",
    summary: `List ${noun}s`,
    options: [{ flags: "--endpoint <endpoint>", summary: `only ${noun}s of this endpoint` }],
    operation: operations.list,
    input: ({ endpoint }) => ({ endpoint }),
    async print({ output, perform }, { data }) {
      const label = await labelEndpoints(perform);
      const rows = data.map((row) => [row.id, label(row.endpoint_id), ...cellsOf(row)]);
      output.table(["ID", "ENDPOINT", ...headings], rows, `no ${noun}s yet; ${maker}`);
    },
  });
}
