/** Shows a bar if something new came while the page is visible. Hidden tabs hold no connection, because a browser allows only a few. */
export function followNews(): void {
  const container = document.querySelector<HTMLElement>("[data-live]");
  if (container === null) return;
  const mark = document.querySelector<HTMLElement>("[data-live-mark]");
  const bar = createBar(container);
  let news: EventSource | null = null;
  const end = (): void => {
    news?.close();
    news = null;
    if (mark !== null) mark.hidden = true;
  };
  const follow = (): void => {
    if (document.hidden) return end();
    // A stream that the server refused or ended for good is closed. It is opened again when the person comes back.
    if (news !== null && news.readyState !== EventSource.CLOSED) return;
    news = new EventSource(container.dataset["live"] ?? "");
    news.addEventListener("open", () => mark?.removeAttribute("hidden"));
    news.addEventListener("error", () => mark?.setAttribute("hidden", ""));
    news.addEventListener("new", ({ data }) => bar.show(countIn(data)));
  };
  document.addEventListener("visibilitychange", follow);
  // A page that the browser keeps for the Back button would hold its connection.
  addEventListener("pagehide", end);
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) follow();
  });
  follow();
}

function createBar(container: HTMLElement): { show(count: number): void } {
  const { title } = document;
  const link = document.createElement("a");
  link.className = "button primary";
  link.href = container.dataset["list"] || location.href;
  // The region must exist before its text changes, so that screen readers announce it.
  container.className = "fresh";
  container.setAttribute("role", "status");
  return {
    show(count) {
      if (count === 0) return;
      link.textContent = `${count} new · show`;
      document.title = `(${count}) ${title}`;
      if (!link.isConnected) container.append(link);
    },
  };
}

/** The count in an event; 0 if the server sent something else. */
function countIn(data: unknown): number {
  try {
    const { count } = JSON.parse(String(data)) as { count: number };
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}
