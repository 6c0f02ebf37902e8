/** The types of formsvc.js, which puts `formsvc` on the page's global object, and of formsvc.mjs, which is imported. */

export interface SubmitOptions {
  /** The address of the server; without it, the address of the script. */
  readonly server?: string;
  /** 1 to 255 visible ASCII characters: the same key with the same data is stored once. Without it, a new one. */
  readonly idempotencyKey?: string;
}

/** One thing that is wrong with one field. */
export interface Issue {
  readonly code: string;
  readonly message: string;
  /** The field's name first. */
  readonly path: readonly string[];
}

export interface Accepted {
  readonly ok: true;
  readonly status: number;
  readonly message: string;
  readonly submission_id: string;
  /** For the visitor, in the language that the form names; absent if it names none. */
  readonly visitor_message?: string;
}

export interface Refused {
  readonly ok: false;
  /** 0 if the server could not be reached. */
  readonly status: number;
  /** `Validation failed`, `Rate limit exceeded`, …; `Network error` if the server could not be reached. */
  readonly error: string;
  /** For the developer. */
  readonly message: string;
  /** For the visitor: this is what the form shows. */
  readonly visitor_message: string;
  /** `held`: the post is kept all the same, so it need not be sent again. */
  readonly notices?: readonly string[];
  /** By field, with `Validation failed`; absent with any other error, which `message` describes. */
  readonly details?: Readonly<Record<string, { readonly issues: readonly Issue[] }>>;
}

/** How much of a form with files has gone out, in bytes of its whole body. */
export interface UploadProgress {
  readonly loaded: number;
  readonly total: number;
}

export type Result = Accepted | Refused;

export interface Formsvc {
  /**
   * Sends data as JSON with a publishable key. Tries again a few times, each time later, while the server is busy or cannot be
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
    /** While a form with files is sent, at most 10 a second; a further try begins anew. */
    "formsvc:progress": CustomEvent<UploadProgress>;
    /** After it was stored; `preventDefault()` leaves the form and its messages as they are. */
    "formsvc:success": CustomEvent<Accepted>;
    /** After it was refused; `preventDefault()` shows no messages. */
    "formsvc:error": CustomEvent<Refused>;
  }
}
