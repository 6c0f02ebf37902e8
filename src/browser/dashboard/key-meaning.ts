/** The members of a `KeyboardEvent` that decide its meaning. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  readonly isComposing: boolean;
  readonly defaultPrevented: boolean;
}

/** The element that has the keyboard focus. */
export interface Focus {
  readonly tagName: string;
  /** The type of an `input`. */
  readonly type?: string;
  readonly isContentEditable?: boolean;
}

/** Types of input that take no letters. */
const NO_TEXT = /^(?:checkbox|radio|button|submit|reset|range|color|file|image)$/;

/** The key if it may be a command; null while somebody types, and for keys that belong to the browser. */
export function commandKey(press: KeyPress, focus: Focus): string | null {
  if (press.ctrlKey || press.altKey || press.metaKey || press.isComposing || press.defaultPrevented)
    return null;
  return isTyping(focus) ? null : press.key;
}

function isTyping({ tagName, type = "text", isContentEditable = false }: Focus): boolean {
  if (isContentEditable || tagName === "TEXTAREA" || tagName === "SELECT") return true;
  return tagName === "INPUT" && !NO_TEXT.test(type);
}
