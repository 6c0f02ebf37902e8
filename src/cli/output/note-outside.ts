import { countOf } from "../../foundation/count-of.ts";
import type { Output } from "./output.ts";

/** Notes which files a copy of a database does not contain, because their bytes are stored outside of it. */
export function noteOutside(output: Output, files: number): void {
  if (files === 0) return;
  const what = `the bytes of ${countOf(files, "file")}`;
  output.note(
    `${what} are in the S3-compatible store (files.s3) and not in the database: keep a copy of the bucket too`,
  );
}
