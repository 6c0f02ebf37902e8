/** What a matching keyword or rule does: adds so many points, blocks, or (rules only) allows. */
type SpamEffect = number | "block" | "allow";

interface SpamKeyword {
  /** A word or phrase; it matches whole words, whatever the case. */
  readonly word: string;
  readonly effect: number | "block";
}

interface SpamRule {
  /** The top-level field it looks at; null means every field. */
  readonly field: string | null;
  /** RE2 syntax, found anywhere unless anchored, whatever the case. */
  readonly pattern: string;
  readonly effect: SpamEffect;
}

/** Whom the owner knows: exact addresses or networks, e-mail addresses, and domains with all below them. */
interface SpamSenders {
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly domains: readonly string[];
}

/** The owner's own choices; {@link defaultSpamSettings} needs none of them. */
export interface SpamSettings {
  /** A post with more links than this gets points for it; 0 and up. */
  readonly maxLinks: number;
  /** For forms that receive bug reports: links count half, and ten of them are normal. */
  readonly technical: boolean;
  readonly keywords: readonly SpamKeyword[];
  readonly allow: SpamSenders;
  readonly deny: SpamSenders;
  readonly rules: readonly SpamRule[];
}

const NOBODY: SpamSenders = { addresses: [], emails: [], domains: [] };

export function defaultSpamSettings(maxLinks: number): SpamSettings {
  return { maxLinks, technical: false, keywords: [], allow: NOBODY, deny: NOBODY, rules: [] };
}
