/** 192 bits in base64url. */
const TOKEN = /^[\w-]{32}$/;

/**
 * Takes the token of a sign-in link from the part after the #, which no server and no log sees. Somebody who opened such a link is only
 * asked for a new password.
 */
export function takeLinkToken(): void {
  const form = document.querySelector<HTMLDetailsElement>("details[data-link-form]");
  if (form === null) return;
  onToken((token) => {
    form.open = true;
    fill(form, "token", token);
    // This makes a page with an error look like this page.
    fill(form, "welcome", "1");
    show("[data-without-link]", false);
    show("[data-with-link]", true);
    document.title = document.querySelector("h1")?.innerText ?? document.title;
    form.querySelector<HTMLInputElement>("input[type=password]")?.focus();
  });
}

/** Takes the token of an invitation. The form sends it at once, which shows the invitation and changes nothing. */
export function takeInvitation(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-invitation]");
  if (form === null) return;
  onToken((token) => {
    fill(form, "token", token);
    form.requestSubmit();
  });
}

/** Calls `use` with the token in the address, now or when one comes. */
function onToken(use: (token: string) => void): void {
  const take = (): void => {
    const token = location.hash.slice(1);
    // The link that skips the navigation has a # too.
    if (!TOKEN.test(token)) return;
    // The token is removed from the address and the history, so that nobody reads it there.
    history.replaceState(null, "", location.pathname + location.search);
    use(token);
  };
  take();
  addEventListener("hashchange", take);
}

function fill(form: HTMLElement, name: string, value: string): void {
  const field = form.querySelector<HTMLInputElement>(`input[name=${name}]`);
  if (field !== null) field.value = value;
}

function show(selector: string, isShown: boolean): void {
  for (const element of document.querySelectorAll<HTMLElement>(selector)) element.hidden = !isShown;
}
