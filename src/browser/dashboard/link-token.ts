/** 192 bits in base64url. */
const TOKEN = /^[\w-]{32}$/;

/**
 * Where a sign-in link keeps its token: behind the #, which no server and no log sees. Whoever has come by one is asked for a password
 * and nothing else.
 */
export function takeLinkToken(): void {
  const form = document.querySelector<HTMLDetailsElement>("details[data-link-form]");
  if (form === null) return;
  const take = (): void => {
    const token = location.hash.slice(1);
    // The link past the navigation has a # too.
    if (!TOKEN.test(token)) return;
    // Gone from the address and the history, so that nobody reads it there.
    history.replaceState(null, "", location.pathname + location.search);
    form.open = true;
    fill(form, "token", token);
    // So that a page with what was wrong looks like this one.
    fill(form, "welcome", "1");
    show("[data-without-link]", false);
    show("[data-with-link]", true);
    document.title = document.querySelector("h1")?.innerText ?? document.title;
    form.querySelector<HTMLInputElement>("input[type=password]")?.focus();
  };
  take();
  addEventListener("hashchange", take);
}

/** The same of an invitation: the token is sent by the form at once, which shows the invitation and changes nothing. */
export function takeInvitation(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-invitation]");
  if (form === null) return;
  const take = (): void => {
    const token = location.hash.slice(1);
    if (!TOKEN.test(token)) return;
    history.replaceState(null, "", location.pathname + location.search);
    fill(form, "token", token);
    form.requestSubmit();
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
