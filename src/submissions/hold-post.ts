import { newId } from "../foundation/id.ts";
import { shortenAddress } from "../foundation/ip-address.ts";
import type { Recollection } from "../history/remember-texts.ts";
import type { Language } from "../languages/language.ts";
import { networkHash } from "../spam/post-trace.ts";
import type { Caller } from "./authenticate.ts";
import { heldBytes, type HeldPost } from "./held-post.ts";
import type { IdempotentPost } from "./idempotency.ts";
import { withLostFiles } from "./incoming-file.ts";
import type { CommitQueue } from "./commit-batch.ts";
import type { Submission } from "./submission.ts";

/** A post that matches the schema, with the judge's verdict. */
export interface Examined {
  readonly submission: Submission;
  readonly trapped: boolean;
  /** The submitter's whole address, even if less of it is stored. */
  readonly address: string;
  readonly recollection: Recollection;
  /** As {@link visitorLanguage} tells it. */
  readonly language: () => Language | null;
}

/** Why a post is held. */
interface Cause {
  readonly idempotent: IdempotentPost | null;
  readonly cause: HeldPost["why"];
  /** With `origin` only. */
  readonly origin?: string;
}

/**
 * Holds a refused post. A post that is spam and over the limit is held as spam, because its release should teach. False if its
 * workspace has no room for a post of this size, or the endpoint was deleted meanwhile.
 */
export async function hold(
  { commits }: { readonly commits: CommitQueue },
  caller: Caller,
  { submission, trapped, address, recollection }: Examined,
  { idempotent, cause, origin }: Cause,
): Promise<boolean> {
  const why = submission.spamClass === "blocked" && cause !== "origin" ? "spam" : cause;
  const { workspaceId } = caller.ready.endpoint;
  const { fileFields } = caller.ready.schema;
  const data = fileFields === null ? submission.data : withLostFiles(submission.data, fileFields);
  const id = newId("held", submission.createdAt);
  const held: HeldPost = { ...submission, data, id, workspaceId, why, origin };
  const [bytes, maxBytes] = [heldBytes(held), caller.ready.limits.heldBytes ?? null];
  if (maxBytes !== null && bytes > maxBytes) return false;
  const outcome = await commits.hold({
    held,
    bytes,
    maxBytes,
    trapped,
    network: networkHash(shortenAddress(address)),
    idempotent,
    recollection: why === "spam" ? recollection : null,
  });
  return outcome === "stored";
}
