import { viewOf } from "./form-view.ts";
import { prove } from "./prove.ts";

/* The script of our own pages of a form with a proof of work. The browser sends the form itself, as it does without script. */

addEventListener("submit", (event) => {
  const form = viewOf(event.target as HTMLFormElement);
  const address = form.dataset["formsvcChallenge"];
  if (address === undefined) return;
  event.preventDefault();
  if (form.getAttribute("aria-busy") === "true") return;
  form.setAttribute("aria-busy", "true");
  void proveAndSend(form, address);
});

async function proveAndSend(form: HTMLFormElement, address: string): Promise<void> {
  const input = document.createElement("input");
  input.type = "hidden";
  input.name = "_pow";
  input.value = await prove(new URL(address, document.baseURI).href);
  form.append(input);
  form.submit();
}

/** When the Back button shows the page again, it is not busy any more and its proof is used up. */
addEventListener("pageshow", () => {
  for (const form of [...document.forms].map(viewOf)) {
    form.removeAttribute("aria-busy");
    form.querySelector("[name=_pow]")?.remove();
  }
});
