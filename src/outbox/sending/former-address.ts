import type { Steps } from "../../database/steps.ts";
import type { RecipientSituation } from "./recipient-situation.ts";
import type { EndedAttempt, Transport } from "./transport.ts";

/**
 * Finds the attempts that went to an address which their recipient has no more, because its owner changed it meanwhile. Call inside the
 * transaction that records them. It reads nothing if all attempts delivered and no recipient has failed, as is usual.
 *
 * @param situations what is recorded of their recipients
 */
export function* findFormer(
  attempts: readonly EndedAttempt[],
  situations: ReadonlyMap<string, RecipientSituation | null>,
): Steps<ReadonlySet<EndedAttempt>> {
  const telling = attempts.filter(({ sentTo, delivery, result }) => {
    const situation = situations.get(delivery.recipientId);
    return sentTo !== undefined && situation && !(result.blame === "nobody" && isWell(situation));
  });
  const former = new Set<EndedAttempt>();
  for (const [transport, group] of Map.groupBy(telling, (ended): Transport => ended.transport)) {
    const ids = [...new Set(group.map(({ delivery }) => delivery.recipientId))];
    const now = yield* transport.addressesNow?.(ids) ?? none();
    for (const ended of group) {
      const address = now.get(ended.delivery.recipientId);
      if (address !== undefined && address !== ended.sentTo) former.add(ended);
    }
  }
  return former;
}

// oxlint-disable-next-line require-yield
function* none(): Steps<ReadonlyMap<string, string>> {
  return new Map();
}

function isWell({ breaker, goneAt, failingSince, refusals }: RecipientSituation): boolean {
  const isClosed = breaker.state === "closed" && breaker.count === 0;
  return isClosed && goneAt === null && failingSince === null && refusals === 0;
}
