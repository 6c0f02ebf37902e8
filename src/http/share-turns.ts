/**
 * Parts of long work, each in a turn of the event loop of its own, however much of it is under way: so a post waits for one part of all
 * of it, and not for one part of each. What is called first comes first.
 */
export function createTurnSharing(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return last;
  };
}
