/**
 * What the workspace remembers about posts like this one. The keeper of the memory looks it up before scoring, so that
 * scoring stays a pure function.
 */
export interface SpamHistory {
  /** Earlier posts with the same or nearly the same text. */
  readonly copies: {
    /** Other senders of it: neither the same e-mail address nor the same network as this one or each other. */
    readonly otherSenders: number;
    /** Copies, from any sender, that the owner marked. */
    readonly markedSpam: number;
    readonly markedHam: number;
  };
  /** Other senders of earlier posts whose text is the same, nearly the same or a variant of it. */
  readonly variantSenders: number;
  /** Other senders of suspicious posts that led to the same target, whatever their texts. */
  readonly targetSenders: number;
  /** Whether the owner marked an earlier post from this e-mail address as genuine, and none as spam. */
  readonly trustedSender: boolean;
  /** Posts from the same network (IPv4 /24, IPv6 /48) in the last ten minutes, and how many endpoints they went to. */
  readonly burst: { readonly posts: number; readonly endpoints: number };
  /** How far marks moved the log-odds of this post's words, -3 to 3, above 0 towards spam; 0 before any mark. */
  readonly shift: number;
}

/** A workspace that has seen nothing yet. */
export const noHistory: SpamHistory = {
  copies: { otherSenders: 0, markedSpam: 0, markedHam: 0 },
  variantSenders: 0,
  targetSenders: 0,
  trustedSender: false,
  burst: { posts: 0, endpoints: 0 },
  shift: 0,
};
