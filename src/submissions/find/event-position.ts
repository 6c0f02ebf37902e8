import type { ChangePosition } from "../../audit/audit-feed.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { TailPosition } from "./tail.ts";

/** The position of a reader in the stream of events. */
export interface EventPosition {
  readonly change: ChangePosition;
  readonly submission: TailPosition;
  /** The time up to which all events were reported, in milliseconds. */
  readonly until: number;
}

export function writePosition({ change, submission, until }: EventPosition): string {
  const values = [change.commit, change.id, submission.commit, submission.id, until];
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

/** @throws invalid_request if the text is not a position that an earlier call returned */
export function readPosition(after: string): EventPosition {
  const values = parse(after);
  const [commit, id, stored, name, until] = values;
  const numbers = [commit, id, stored, until];
  const isPosition =
    values.length === 5 &&
    numbers.every((each) => Number.isSafeInteger(each) && Number(each) >= 0) &&
    typeof name === "string" &&
    /^(?:sub_[0-9a-z]{26})?$/.test(name);
  if (!isPosition)
    throw new FormsvcError("invalid_request", "after is not what an earlier call returned", {
      details: { after: "expected the next_after of an earlier call" },
    });
  return {
    change: { commit: Number(commit), id: Number(id) },
    submission: { commit: Number(stored), id: typeof name === "string" ? name : "" },
    until: Number(until),
  };
}

function parse(after: string): readonly unknown[] {
  try {
    const values = JSON.parse(Buffer.from(after, "base64url").toString()) as unknown;
    return Array.isArray(values) ? (values as unknown[]) : [];
  } catch {
    return [];
  }
}
