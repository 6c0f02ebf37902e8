import { hash } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";
import { withoutVolatile } from "../operations/marks.ts";
import type { AnyOperation } from "../operations/operation.ts";

/** A strong `ETag` of an operation's output, without the members that change by themselves. */
export function entityTag({ output }: Pick<AnyOperation, "output">, shown: unknown): string {
  return `"${hash("sha256", JSON.stringify(withoutVolatile(output, shown)), "base64url").slice(0, 27)}"`;
}

/** Whether a header names the tag. @param header the value of `If-Match` or `If-None-Match`; `*` names every tag */
export function namesTag(header: string, tag: string): boolean {
  return header.split(",").some((each) => ["*", tag].includes(each.trim()));
}

export function changedSince(): FormsvcError {
  return new FormsvcError(
    "precondition_failed",
    "it was changed since it was read, and nothing was done: read it again and repeat the change",
  );
}
