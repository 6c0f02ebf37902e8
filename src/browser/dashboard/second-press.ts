/** Within this time, a second press of a button is the second half of a double click. */
const DOUBLE_CLICK_MS = 2000;

/**
 * Sends a form once if somebody presses its button twice. On a slow line the second request would take the place of the first, whose answer
 * may show a key for the only time.
 */
export function ignoreSecondPress(): void {
  let pressed: unknown;
  let end = 0;
  addEventListener("submit", (event) => {
    const { submitter, target, timeStamp } = event;
    if ((target as HTMLFormElement).method !== "post") return;
    if (submitter === pressed && timeStamp < end) event.preventDefault();
    else if (!event.defaultPrevented) {
      pressed = submitter;
      end = timeStamp + DOUBLE_CLICK_MS;
    }
  });
}
