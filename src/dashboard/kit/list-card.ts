import { html, type Html } from "../../foundation/html.ts";

/** A table in a box. On a phone the cells of a row stand below each other, and a cell with `data-label` shows the label before it. */
interface ListTable {
  /** The name of the table for people who hear the page. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly Html[];
}

export function listTable({ label, columns, rows }: ListTable): Html {
  return html`<div class="scroll wide folds" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

interface ListCard extends ListTable {
  /** The content above the table; absent if the page has only this list. */
  readonly header?: Html;
  /** The address of the next page; null at the end of the list. */
  readonly next: string | null;
}

/** A list on a card of its own, in pages. */
export function listCard({ header, next, ...table }: ListCard): Html {
  return html`<section class="card list">
    ${header !== undefined && html`<header>${header}</header>`}
    ${listTable(table)}
    ${next !== null && html`<nav class="pages" aria-label="Pages"><span></span><a rel="next" href="${next}">Next page →</a></nav>`}
  </section>`;
}
