import { z } from "zod";
import { reachEndpointIds } from "../endpoints/viewable-endpoints.ts";
import { operation } from "../operations/operation.ts";
import { removeRecipient, switchRecipient } from "./change-recipient.ts";
import { endpointChoice, reachRecipient } from "./reach-recipient.ts";
import { type AnyRecipient, listRecipientsOf, type RecipientType } from "./recipient-type.ts";
import { tryRecipient } from "./try-recipient.ts";

/** How operations name and show a kind of recipient. */
interface ShownType<Noun extends string, Of extends AnyRecipient, Shape extends z.ZodType> {
  /** The first part of the operations' names, and the input or output member that has a recipient or its id. */
  readonly noun: Noun;
  readonly type: RecipientType<Of>;
  /** The input member that names a recipient. */
  readonly reference: Readonly<Record<Noun, z.ZodString>>;
  readonly shape: Shape;
  readonly json: (recipient: Of) => z.output<Shape>;
  readonly summaries: Readonly<Record<"list" | "show" | "enable" | "disable" | "try" | "delete", string>>;
}

/** The operations that recipients of every kind have. */
export function recipientOperations<
  Noun extends "webhook" | "recipient",
  Of extends AnyRecipient,
  Shape extends z.ZodType,
>({ noun, type, reference, shape, json, summaries }: ShownType<Noun, Of, Shape>) {
  const named = z.strictObject(reference);
  type Shown = Record<Noun, z.output<Shape>>;
  const shown = z.strictObject({ [noun]: shape }) as z.ZodType as z.ZodType<Shown>;
  const idOf = (input: object) => (input as Record<Noun, string>)[noun];
  const show = (recipient: Of) => ({ [noun]: json(recipient) }) as Shown;
  const change = { kind: "write", access: "recipients:write", input: named, output: shown } as const;
  return {
    list: operation({
      name: `${noun}.list`,
      summary: summaries.list,
      kind: "read",
      access: "recipients:read",
      input: z.strictObject(endpointChoice),
      output: z.strictObject({ data: z.array(shape) }),
      *run(context, choice) {
        const recipients = yield* listRecipientsOf(type, yield* reachEndpointIds(context, choice));
        return { data: recipients.map(json) };
      },
    }),
    show: operation({
      name: `${noun}.show`,
      summary: summaries.show,
      kind: "read",
      access: "recipients:read",
      input: named,
      output: shown,
      *run(context, input) {
        return show((yield* reachRecipient(context, type, idOf(input))).recipient);
      },
    }),
    enable: operation({
      ...change,
      name: `${noun}.enable`,
      summary: summaries.enable,
      run: async (context, input) => show(await switchRecipient(context, type, idOf(input), "enabled")),
    }),
    disable: operation({
      ...change,
      name: `${noun}.disable`,
      summary: summaries.disable,
      run: async (context, input) => show(await switchRecipient(context, type, idOf(input), "disabled")),
    }),
    try: operation({
      ...change,
      name: `${noun}.try`,
      summary: summaries.try,
      run: async (context, input) => show(await tryRecipient(context, type, idOf(input))),
    }),
    delete: operation({
      name: `${noun}.delete`,
      summary: summaries.delete,
      kind: "danger",
      access: "recipients:write",
      input: named,
      output: z.strictObject({ deleted: z.array(z.string()) }),
      run: (context, input) => removeRecipient(context, type, idOf(input)),
    }),
  };
}
