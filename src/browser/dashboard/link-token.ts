/** 192 bits in base64url. */
const TOKEN = /^[\w-]{32}$/;

/** Where a sign-in link keeps its token: behind the #, which no server and no log sees. */
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
    const field = form.querySelector<HTMLInputElement>("input[name=token]");
    if (field !== null) field.value = token;
    form.querySelector<HTMLInputElement>("input[type=password]")?.focus();
  };
  take();
  addEventListener("hashchange", take);
}
