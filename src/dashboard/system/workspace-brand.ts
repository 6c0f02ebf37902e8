import { type Brand, checkBrand, NO_BRAND } from "../../foundation/brand.ts";
import { html, type Html } from "../../foundation/html.ts";
import { setWorkspace } from "../../workspaces/workspace-operations.ts";
import { type Answer, redirect } from "../answer.ts";
import { areaField, type Problems, textField, tryField } from "../kit/field.ts";
import { colourField } from "../kit/colour-field.ts";
import type { Routes, Visit } from "../routes.ts";

/** The routes that set the look of a workspace's pages and e-mails. @param show shows the page again, with what was typed */
export function brandWrites(
  routes: Routes,
  show: (visit: Visit, brand: Brand, problems: Problems) => Promise<Answer>,
): void {
  routes.write("/workspaces/:id/brand", async (visit) => {
    const id = visit.params["id"] ?? "";
    const brand = readBrand(visit.form);
    const problems = brandProblems(brand);
    if (problems.size > 0) return show(visit, brand, problems);
    const { colour, name, footer } = brand;
    const given = { brand_colour: colour, brand_name: name, brand_footer: footer };
    await visit.perform(setWorkspace, { workspace: id, ...given });
    return redirect(`/dashboard/workspaces/${id}`, "saved");
  });
}

function readBrand(form: URLSearchParams): Brand {
  const value = (name: string): string => form.get(`brand_${name}`) ?? "";
  return { colour: value("colour"), name: value("name"), footer: value("footer") };
}

/** Checks each part by itself, so that its problem is shown at its field. */
function brandProblems(brand: Brand): Problems {
  const problems = new Map<string, string>();
  for (const part of ["colour", "name", "footer"] as const)
    tryField(problems, `brand_${part}`, () => checkBrand({ ...NO_BRAND, [part]: brand[part] }));
  return problems;
}

export function brandPart(path: string, { colour, name, footer }: Brand, problems: Problems): Html {
  return html`<section class="part" aria-labelledby="brand">
      <header><h2 id="brand">For visitors</h2><p>How their pages and e-mails look: what they see after they sent a form, the form’s own page, and e-mails.</p></header>
      <form class="card stacked" method="post" action="${path}/brand" data-unsaved>
        ${colourField({ name: "brand_colour", label: "Colour", value: colour ?? "", hint: "Of buttons and the edge: choose one, or write it like #0b6e5f. The words on it are black or white, whichever is read better. Empty is the built-in one; a form’s own page may have another.", problems })}
        ${textField({ name: "brand_name", label: "Name above", value: name ?? "", hint: "Like that of your firm. At most 200 bytes, some 200 letters.", problems, autocomplete: "off" })}
        ${areaField({ name: "brand_footer", label: "Text below", value: footer ?? "", hint: "Like your address. Plain text, at most 1000 bytes.", problems })}
        <p><button>Save the look</button></p>
      </form>
    </section>`;
}
