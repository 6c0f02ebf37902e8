import type { Steps } from "../../database/steps.ts";
import { viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import type { Viewing } from "../../operations/actor.ts";
import { findSight, type Sight } from "../../workspaces/standing.ts";
import type { Submission } from "./submission.ts";

/** A post as somebody sees it. */
export type Conceal = <Post extends Pick<Submission, "endpointId" | "spamReasons">>(post: Post) => Post;

/** Takes the reasons of scores away where a reader is not shown them. */
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
