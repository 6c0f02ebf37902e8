import type { Steps } from "../../database/steps.ts";
import { viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import type { Viewing } from "../../operations/actor.ts";
import { findSight, type Sight } from "../../workspaces/standing.ts";
import type { Submission } from "./submission.ts";

/** Returns a post as a reader may see it. */
export type Conceal = <Post extends Pick<Submission, "endpointId" | "spamReasons">>(post: Post) => Post;

/** Makes a function that removes the reasons of the spam score if the reader may not see them. */
export function* concealReasons(viewing: Viewing): Steps<Conceal> {
  const seen = yield* findSight(viewing);
  const shown = yield* findSight(viewing, "spam:details");
  if (seen === null || shown === null || sizeOf(seen) === sizeOf(shown)) return (post) => post;
  const ids = new Set(yield* viewableEndpointIds(viewing, "spam:details"));
  return (post) => (ids.has(post.endpointId) ? post : { ...post, spamReasons: [] });
}

function sizeOf({ whole, bound }: Sight): number {
  return whole.length + bound.length;
}
