/** The types of formsvc.js, which puts `formsvc` on the page's global object, and of formsvc.mjs, which is imported. */

export interface SubmitOptions {
  /** The address of the formsvc server; without it, the server that the script was loaded from. */
  readonly server?: string;
  /** 1 to 255 visible ASCII characters. Data that is sent twice with the same key is stored once. Without it, each call makes a new key. */
  readonly idempotencyKey?: string;
}

/** One thing that is wrong with one field. */
export interface Issue {
  readonly code: string;
  readonly message: string;
  /** The path to the wrong value: the name of the field first, then the names or numbers inside it. */
  readonly path: readonly string[];
}

export interface Accepted {
  readonly ok: true;
  readonly status: number;
  readonly message: string;
  readonly submission_id: string;
  /** What to show to the visitor, in the language that the form names in `_language`; absent if it names none. */
  readonly visitor_message?: string;
}

export interface Refused {
  readonly ok: false;
  /** The HTTP status of the answer; 0 if the server could not be reached. */
  readonly status: number;
  /** The kind of error: `Validation failed`, `Rate limit exceeded`, …; `Network error` if the server could not be reached. */
  readonly error: string;
  /** What is wrong, for the developer of the page. */
  readonly message: string;
  /** What is wrong, for the visitor. The form shows this text. */
  readonly visitor_message: string;
  /** Contains `held` if the post is kept all the same, so that it need not be sent again. */
  readonly notices?: readonly string[];
  /** The problems of each field, by its name. Absent unless `error` is `Validation failed`. */
  readonly details?: Readonly<Record<string, { readonly issues: readonly Issue[] }>>;
}

/** How much of a form with files was sent, in bytes of the whole body of the request. */
export interface UploadProgress {
  readonly loaded: number;
  readonly total: number;
}

export type Result = Accepted | Refused;

export interface Formsvc {
  /**
   * Sends data as JSON with a publishable key. Tries again a few times, after longer and longer waits, while the server is busy or cannot be
   * reached. The data is stored at most once. Does not reject for errors of the network or the server.
   */
  submit(key: string, data: object, options?: SubmitOptions): Promise<Result>;
}

/** What formsvc.mjs exports. Nothing happens until one of them is called. */
export interface FormsvcModule extends Formsvc {
  /** Sends each form of the page that has `data-formsvc` by script, as formsvc.js does by itself. */
  enhanceForms(): void;
}

declare global {
  interface HTMLElementEventMap {
    /** Before a form is sent; `preventDefault()` keeps it from being sent. */
    "formsvc:submit": CustomEvent<{ readonly data: FormData }>;
    /** While a form with files is sent, at most 10 times a second; a further try begins at 0 again. */
    "formsvc:progress": CustomEvent<UploadProgress>;
    /** After a form was stored; `preventDefault()` leaves the form and its messages as they are. */
    "formsvc:success": CustomEvent<Accepted>;
    /** After a form was refused, or could not be sent; `preventDefault()` shows no messages. */
    "formsvc:error": CustomEvent<Refused>;
  }
}
