/**
 * What the workspace remembers that bears on one post. Whoever keeps the memory looks it up before judging, so that
 * judging stays a pure function.
 */
export interface SpamHistory {
  /** Earlier posts with the same or nearly the same text. */
  readonly copies: {
    /** From others, counted by sender: neither the same e-mail address nor the same network. */
    readonly otherSenders: number;
    /** Copies, whoever sent them, that the owner marked. */
    readonly markedSpam: number;
    readonly markedHam: number;
  };
  /** Whether the owner marked an earlier post from this e-mail address as genuine, and none as spam. */
  readonly trustedSender: boolean;
  /** Posts from the same network (IPv4 /24, IPv6 /48) in the last ten minutes, and how many endpoints they went to. */
  readonly burst: { readonly posts: number; readonly endpoints: number };
  /** What marks taught, as the sum of the weights of this post's words: above 0 is like spam; null before any mark. */
  readonly lesson: number | null;
}

/** A workspace that has seen nothing yet. */
export const noHistory: SpamHistory = {
  copies: { otherSenders: 0, markedSpam: 0, markedHam: 0 },
  trustedSender: false,
  burst: { posts: 0, endpoints: 0 },
  lesson: null,
};
