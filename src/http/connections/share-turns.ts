/**
 * Lets long works share the event loop: it gives each turn of the loop to one part of one of them, in the order of the calls. So a post
 * waits for one part of all works together, and not for one part of each.
 */
export function createTurnSharing(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return last;
  };
}
