import type { TextKey, Wording } from "../languages/wording.ts";
import type { FileField } from "./field-definition.ts";
import { type FileFamily, kindsOf } from "./file-types.ts";
import { megabytes } from "./issue.ts";
import type { FileBounds } from "./posted-file.ts";

const FAMILY_TEXTS: Readonly<Record<FileFamily, TextKey>> = {
  image: "kindImage",
  audio: "kindAudio",
  video: "kindVideo",
  text: "kindText",
};

/** Says how many files a field takes, how large they may be, and of which kinds. */
export function fileHint(
  { accept, maxBytes = Infinity, maxFiles = 1 }: FileField,
  bounds: FileBounds,
  wording: Wording,
): string {
  const kinds =
    accept === undefined
      ? [wording.text("kindsUsual")]
      : kindsOf(accept).map((kind) =>
          typeof kind === "string" ? wording.text(FAMILY_TEXTS[kind]) : kind.extension.toUpperCase(),
        );
  const most = Math.min(maxFiles, bounds.maxFiles);
  const values = {
    size: megabytes(Math.min(maxBytes, bounds.maxFileBytes), wording),
    kinds: kinds.join(", "),
  };
  return most > 1 ? wording.amount("filesTake", most, values) : wording.text("fileTakes", values);
}
