/** What a workspace remembers of posts like this one. It is looked up before scoring, so that scoring stays a pure function. */
export interface SpamHistory {
  /** Earlier posts with the same text, or nearly the same. */
  readonly copies: {
    /**
     * The number of other senders of this text: they share neither the e-mail address nor the network with this sender or with each other.
     */
    readonly otherSenders: number;
    /** The number of copies, from any sender, that the owner marked. */
    readonly markedSpam: number;
    readonly markedHam: number;
  };
  /** The number of other senders of posts whose text is the same, nearly the same, or a variant. */
  readonly variantSenders: number;
  /** The number of other senders of suspicious posts that led to the same target, whatever their texts. */
  readonly targetSenders: number;
  /** Whether the owner marked an earlier post from this e-mail address as genuine, and none as spam. */
  readonly trustedSender: boolean;
  /** The number of posts from the same network (IPv4 /24, IPv6 /48) in the last ten minutes, and of the endpoints that they went to. */
  readonly burst: { readonly posts: number; readonly endpoints: number };
  /** The amount by which marks moved the log-odds of this post's words, from -3 to 3. Above 0 means spam; 0 without marks. */
  readonly shift: number;
}

/** The history of a workspace that has had no posts yet. */
export const noHistory: SpamHistory = {
  copies: { otherSenders: 0, markedSpam: 0, markedHam: 0 },
  variantSenders: 0,
  targetSenders: 0,
  trustedSender: false,
  burst: { posts: 0, endpoints: 0 },
  shift: 0,
};
