import { countOf } from "../foundation/count-of.ts";
import type { Output } from "./output.ts";

/** Says of a copy of a database which bytes it cannot hold. */
export function noteOutside(output: Output, files: number): void {
  if (files === 0) return;
  const what = `the bytes of ${countOf(files, "file")}`;
  output.note(
    `${what} are in the S3-compatible store (files.s3) and not in the database: keep a copy of the bucket too`,
  );
}
