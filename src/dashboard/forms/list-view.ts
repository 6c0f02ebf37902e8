import { html, type Html } from "../../foundation/html.ts";

/** A long list that is searched, sorted and shown in pages. The address of a page contains all of that state. */

/** The number of rows on one page. */
const PAGE_ROWS = 50;
/** The longest search, in characters. */
const MAX_SEARCHED = 100;

export interface ListView<Sort extends string> {
  readonly path: string;
  /** The search; empty shows everything. */
  readonly q: string;
  readonly sort: Sort;
  /** The number of the page, from 1 on. */
  readonly page: number;
  /** Further parameters of the address. */
  readonly more: Readonly<Record<string, string>>;
}

/**
 * Reads the state from an address. A value that the page does not know counts as missing.
 *
 * @param sorts the possible orders; the first one is the default
 */
export function readListView<Sort extends string>(
  path: string,
  query: URLSearchParams,
  sorts: readonly [Sort, ...Sort[]],
  more: Readonly<Record<string, string>> = {},
): ListView<Sort> {
  const page = /^[1-9]\d{0,5}$/.exec(query.get("page") ?? "");
  return {
    path,
    q: (query.get("q") ?? "").trim().slice(0, MAX_SEARCHED),
    sort: sorts.find((one) => one === query.get("sort")) ?? sorts[0],
    page: page === null ? 1 : Number(page[0]),
    more,
  };
}

/** Whether one of a row's texts contains the search, ignoring case. */
export function fits({ q }: ListView<string>, ...texts: readonly string[]): boolean {
  const wanted = q.toLocaleLowerCase("en");
  return wanted === "" || texts.some((text) => text.toLocaleLowerCase("en").includes(wanted));
}

/** The rows of the page that is shown. */
export function rowsOf<Row>({ page }: ListView<string>, all: readonly Row[]): readonly Row[] {
  return all.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS);
}

function addressOf(view: ListView<string>, change: Partial<ListView<string>>): string {
  const { path, q, sort, page, more } = { ...view, ...change };
  const members = { ...more, q, sort, page: page === 1 ? "" : String(page) };
  const query = new URLSearchParams(Object.entries(members).filter(([, value]) => value !== ""));
  return `${path}?${query.toString()}`;
}

/** @param inputs further inputs of the form */
export function searchForm(view: ListView<string>, label: string, inputs: Html | null = null): Html {
  const { path, q, sort } = view;
  return html`<form class="search" role="search" action="${path}">
    <input type="hidden" name="sort" value="${sort}" />
    <input type="search" name="q" value="${q}" maxlength="${MAX_SEARCHED}" placeholder="${label}" aria-label="${label}" dir="auto" />
    ${inputs}
    <button>Show</button>
  </form>`;
}

/** The heading of a column by which the rows can be sorted. */
export function sortHeading<Sort extends string>(
  view: ListView<Sort>,
  sort: Sort,
  { label, direction, isRight = false }: SortWords,
): Html {
  const isChosen = view.sort === sort;
  return html`<th scope="col" ${isRight && html` class="right"`}${isChosen && html` aria-sort="${direction}"`}>
    <a class="sort" href="${addressOf(view, { sort, page: 1 })}">${label}${isChosen && html`<span aria-hidden="true"> ${direction === "ascending" ? "↑" : "↓"}</span>`}</a>
  </th>`;
}

interface SortWords {
  readonly label: string;
  readonly direction: "ascending" | "descending";
  readonly isRight?: boolean;
}

/** Links to the pages before and after, and the number of rows; null if one page shows them all. */
export function pageLinks(view: ListView<string>, total: number): Html | null {
  if (view.page === 1 && total <= PAGE_ROWS) return null;
  const { page } = view;
  const last = Math.max(1, Math.ceil(total / PAGE_ROWS));
  const before = Math.min(page - 1, last);
  return html`<nav class="pages" aria-label="Pages">
    <span>${page > 1 && html`<a rel="prev" href="${addressOf(view, { page: before })}">← Page before</a>`}</span>
    <span>Page ${page} of ${last}</span>
    <span>${page < last && html`<a rel="next" href="${addressOf(view, { page: page + 1 })}">Next page →</a>`}</span>
  </nav>`;
}
