import { typedIn } from "./typed-form.ts";

/** Time after the last key until the form is checked, because the person may go on typing. */
const WAIT_MS = 600;

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Shows what is wrong with a `form[data-check]` while it is filled in. The server checks it, by the same rules as when it is sent. */
export function checkWhileTyping(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-check]")) follow(form);
}

function follow(form: HTMLFormElement): void {
  const touched = new Set<string>();
  let waiting = 0;
  const check = async (): Promise<void> => {
    const asked = waiting;
    const problems = await problemsOf(form);
    // If the person has typed on meanwhile, the next answer is shown instead.
    if (problems !== null && asked === waiting) showAll(form, problems, touched);
  };
  form.addEventListener("input", (event) => {
    touched.add((event.target as Control).name);
    clearTimeout(waiting);
    waiting = setTimeout(() => void check(), WAIT_MS);
  });
}

/** The problems by the names of the inputs; null if the server did not answer. */
async function problemsOf(form: HTMLFormElement): Promise<Record<string, string> | null> {
  const body = typedIn(form, "check");
  try {
    const answer = await fetch(form.getAttribute("action") ?? "", { method: "POST", body });
    return answer.ok ? ((await answer.json()) as Record<string, string>) : null;
  } catch {
    return null;
  }
}

/** Shows the problems, except that an input is empty which nobody has filled in yet. */
function showAll(
  form: HTMLFormElement,
  problems: Record<string, string>,
  touched: ReadonlySet<string>,
): void {
  for (const control of form.elements) {
    if (!isControl(control) || control.id === "" || control.type === "hidden") continue;
    if (touched.has(control.name) || control.value !== "") show(control, problems[control.name] ?? "");
  }
}

function show(control: Control, text: string): void {
  const id = `${control.id}-problem`;
  const known = document.getElementById(id);
  const described = (control.getAttribute("aria-describedby") ?? "")
    .split(" ")
    .filter((each) => each !== "" && each !== id);
  if (text === "") {
    control.removeAttribute("aria-invalid");
    known?.remove();
  } else {
    const line = known ?? document.createElement("p");
    line.id = id;
    line.className = "problem";
    line.textContent = text;
    if (known === null) control.after(line);
    control.setAttribute("aria-invalid", "true");
    described.push(id);
    for (
      let fold = control.closest("details");
      fold !== null;
      fold = fold.parentElement?.closest("details") ?? null
    )
      fold.open = true;
  }
  if (described.length > 0) control.setAttribute("aria-describedby", described.join(" "));
  else control.removeAttribute("aria-describedby");
}

function isControl(element: Element): element is Control {
  return element.matches("input, select, textarea");
}
