import { makeSecretText, readSecretText, type SecretText } from "../foundation/secret-text.ts";

export type KeyKind = "secret" | "publishable";

/** A key that has the right form, whether it exists or not. */
export interface ParsedKey extends SecretText {
  readonly kind: KeyKind;
}

export const KEY_PREFIXES: Readonly<Record<KeyKind, string>> = { secret: "fsk_", publishable: "fpk_" };

export function makeKey(kind: KeyKind): ParsedKey {
  return { kind, ...makeSecretText(KEY_PREFIXES[kind]) };
}

/** Parses a key. Null for every text that no correct program can have issued, so that a mistyped key is refused before any look-up. */
export function parseKey(text: string): ParsedKey | null {
  const kind = text.startsWith(KEY_PREFIXES.secret) ? "secret" : "publishable";
  const read = readSecretText(KEY_PREFIXES[kind], text);
  return read && { kind, ...read };
}
