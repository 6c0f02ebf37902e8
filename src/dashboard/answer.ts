import type { Readable } from "node:stream";
import type { ByteRange, FileStream } from "../files/read-file.ts";
import type { FileFacts } from "../schemas/posted-file.ts";
import type { Html } from "../foundation/html.ts";
import type { Problems } from "./kit/field.ts";

/** The answer to a request of the dashboard. */
export type Answer = Page | Redirect | Download | SentFile | Events | Checked | ForScript;

export interface Page {
  readonly kind: "page";
  readonly title: string;
  readonly content: Html;
  readonly status: number;
}

export interface Redirect {
  readonly kind: "redirect";
  /** A path of the dashboard, with its query; or the whole address at an issuer, for a step of signing in that is taken there. */
  readonly to: string;
}

export interface Download {
  readonly kind: "download";
  readonly fileName: string;
  readonly type: string;
  readonly content: Readable | string;
}

/** A file that a visitor of a form sent. */
interface SentFile {
  readonly kind: "file";
  readonly file: FileFacts;
  readonly open: (range: ByteRange) => FileStream;
}

/** A stream of server-sent events. */
interface Events {
  readonly kind: "events";
  /** Null tells the browser not to connect again. */
  readonly content: Readable | null;
}

/** The problems of a form that is still being filled in, for the page's script. */
export interface Checked {
  readonly kind: "checked";
  readonly problems: Problems;
}

/** JSON for the page's script. */
interface ForScript {
  readonly kind: "for script";
  readonly content: Readonly<Record<string, unknown>>;
}

/** @param status 422 if the page shows again what was typed, with its problems */
export function page(title: string, content: Html, status = 200): Page {
  return { kind: "page", title, content, status };
}

/**
 * Redirects with 303, so that reloading the next page does not repeat the write.
 *
 * @param notice a key of the notices; `count` is the number in it
 */
export function redirect(to: string, notice?: string, count?: number): Redirect {
  if (notice === undefined) return { kind: "redirect", to };
  const separator = to.includes("?") ? "&" : "?";
  return {
    kind: "redirect",
    to: `${to}${separator}notice=${notice}${count === undefined ? "" : `&n=${count}`}`,
  };
}

/** The submissions that a change really changed, as the notice of the change names them. */
export interface Undoable {
  readonly ids: readonly string[];
  /** The submissions that had the mark "ham" before. Undoing the change gives it to them again. */
  readonly hams: readonly string[];
}

/** Like {@link redirect}, with a notice that offers to undo the change, if it changed anything. */
export function redirectWithUndo(to: Redirect, { ids, hams }: Undoable): Redirect {
  const members = Object.entries({ undo: ids, ham: hams }).filter(([, each]) => each.length > 0);
  return { ...to, to: [to.to, ...members.map(([name, each]) => `${name}=${each.join(".")}`)].join("&") };
}

export function download(fileName: string, type: string, content: Readable | string): Download {
  return { kind: "download", fileName, type, content };
}

/** The answer to `action=check` of a `form[data-check]`. Nothing is stored. */
export function checkedForm(problems: Problems): Checked {
  return { kind: "checked", problems };
}
