import { html, type Html } from "../../foundation/html.ts";

/** The table of the inbox and of held posts. @param opinion the heading of the column with the score or the reason */
export function postTable(opinion: string, rows: readonly Html[]): Html {
  return html`<table>
    <colgroup>
      <col class="c-pick" />
      <col />
      <col class="c-form" />
      <col class="c-score" />
      <col class="c-when" />
    </colgroup>
    <thead>
      <tr>
        <th scope="col" class="pick">
          <span class="hidden-text">Selected</span>
          <input type="checkbox" data-select-all aria-label="Select all on this page" />
        </th>
        <th scope="col">From</th>
        <th scope="col" class="c-form">Form</th>
        <th scope="col" class="c-score">${opinion}</th>
        <th scope="col" class="right c-when">When</th>
      </tr>
    </thead>
    <tbody data-rows>
      ${rows}
    </tbody>
  </table>`;
}
