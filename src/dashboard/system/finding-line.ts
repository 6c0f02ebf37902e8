import type { Html } from "../../foundation/html.ts";

/** A finding that a person has to do something about. */
export interface FindingLine {
  readonly text: string | Html;
  /** A page that helps; `label` is the text of its link. */
  readonly href?: string;
  readonly label?: string;
  /** Buttons that do something about it, in place of a link. */
  readonly actions?: Html;
}
