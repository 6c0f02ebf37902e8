import type { Readable } from "node:stream";
import type { ByteRange, FileStream } from "../files/read-file.ts";
import type { FileFacts } from "../schemas/posted-file.ts";
import type { Html } from "../foundation/html.ts";
import type { Problems } from "./kit/field.ts";

/** What a visit of the dashboard gets. */
export type Answer = Page | Redirect | Download | SentFile | Events | Checked | ForScript;

export interface Page {
  readonly kind: "page";
  readonly title: string;
  readonly content: Html;
  readonly status: number;
}

export interface Redirect {
  readonly kind: "redirect";
  /** A path of the dashboard, with its query; or the whole address at an issuer, if a step of signing in is taken there. */
  readonly to: string;
}

export interface Download {
  readonly kind: "download";
  readonly fileName: string;
  readonly type: string;
  readonly content: Readable | string;
}

/** A file that a visitor of a form sent. */
export interface SentFile {
  readonly kind: "file";
  readonly file: FileFacts;
  readonly open: (range: ByteRange) => FileStream;
}

/** Server-sent events. */
export interface Events {
  readonly kind: "events";
  /** Null tells the browser to ask no more. */
  readonly content: Readable | null;
}

/** What is wrong with a form that is still being filled in, for the page's script. */
export interface Checked {
  readonly kind: "checked";
  readonly problems: Problems;
}

/** JSON for the page's script. */
export interface ForScript {
  readonly kind: "for script";
  readonly content: Readonly<Record<string, unknown>>;
}

/** @param status 422 if the page shows again what was typed, with its problems. */
export function page(title: string, content: Html, status = 200): Page {
  return { kind: "page", title, content, status };
}

/** The browser asks for that page next, so that reloading it repeats no write. @param notice a key of the notices, with its number. */
export function redirect(to: string, notice?: string, count?: number): Redirect {
  if (notice === undefined) return { kind: "redirect", to };
  const separator = to.includes("?") ? "&" : "?";
  return {
    kind: "redirect",
    to: `${to}${separator}notice=${notice}${count === undefined ? "" : `&n=${count}`}`,
  };
}

/** The same with a notice that offers to take it back. @param ids of the submissions that it is about */
export function redirectWithUndo(to: string, notice: string, ids: readonly string[]): Redirect {
  const { to: next } = redirect(to, notice, ids.length);
  return { kind: "redirect", to: `${next}&undo=${ids.join(".")}` };
}

export function download(fileName: string, type: string, content: Readable | string): Download {
  return { kind: "download", fileName, type, content };
}

/** For `action=check` of a `form[data-check]`: nothing is stored. */
export function checkedForm(problems: Problems): Checked {
  return { kind: "checked", problems };
}
