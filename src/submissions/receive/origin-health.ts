import type { Steps } from "../../database/steps.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { listRefusals } from "../../endpoints/refused-origins.ts";

/** The largest number of findings; strangers can cause 20 for each endpoint. */
const MAX_SHOWN = 20;

/** Returns one finding for each page whose posts an endpoint refused lately, the latest first; a single sound one if there is none. */
export function* checkRefusedOrigins(): Steps<Finding[]> {
  const refused = (yield* listRefusals(null)).filter(({ isAllowed }) => !isAllowed).slice(0, MAX_SHOWN);
  if (refused.length === 0)
    return [sound("endpoints.origins", "no posts were refused for their page's origin")];
  return refused.map(({ endpoint, origin, posts, lastAt }) => {
    const [count, were] = posts === 1 ? ["1 post", "was"] : [`${posts} posts`, "were"];
    const shown = plainText(origin);
    const message = `${endpoint.name} (${endpoint.id}): ${count} from ${shown} ${were} refused, the last at ${toIsoTime(lastAt)}`;
    const hint = { kind: "allow_or_ignore_origin", endpointId: endpoint.id } as const;
    return problem("endpoints.origins", message, hint);
  });
}
