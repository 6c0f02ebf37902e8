import type { Html } from "../../foundation/html.ts";

/** One thing that needs a person. */
export interface FindingLine {
  readonly text: string | Html;
  /** A page that helps, with the words of its link. */
  readonly href?: string;
  readonly label?: string;
  /** Or buttons that do something about it. */
  readonly actions?: Html;
}
