/** What a page says if a request of its script fails. */
export const NO_ANSWER = "The server gave no answer. Try again.";

/** What a form would send, without its files, if the button with this action was pressed. */
export function typedIn(form: HTMLFormElement, action: string): URLSearchParams {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value);
  body.set("action", action);
  return body;
}
