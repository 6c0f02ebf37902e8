/**
 * The script of the dashboard's pages, which all work without it. It makes no markup from text. Attributes in a page say what the script
 * does:
 *
 * - `<time datetime="…" data-time="ago">` shows how long ago the time was. With `exact` it shows the day and the hour in the reader's zone,
 *   with `due` how long it is until then.
 * - `<button type="button" data-copy>` copies the text of the `code` in the same parent, or of the element whose id it names.
 * - `<div data-live="/dashboard/events?…" data-list="/dashboard?…"></div>` gets a bar if something new came; pressing it opens
 *   the list. `<span class="live" data-live-mark hidden>` is visible while the page is connected for news.
 * - `<tbody data-rows>`: `j` and `k` move between its rows, `o` opens the first link of a row, `x` ticks its checkbox.
 * - `data-key="s"` on a button, a link or an input: the key presses it, or moves into the input. In a form with rows it acts on
 *   the ticked rows; if none is ticked, on the row that has the focus.
 * - `<input type="checkbox" data-select-all>` ticks all rows of its form, `<b data-selected>` shows the number of ticked rows.
 * - `<input type="checkbox" data-keys-setting>` switches the keys off and on.
 * - `<button type="button" data-opens="id">` opens that `dialog`.
 * - `<details data-link-form>` opens with the token that the address has after its #.
 * - `<form data-invitation>` is sent with the token that the address has after its #.
 * - `<div data-passkey="/dashboard/…" data-use="…">` in a form: its button asks the device for a passkey, and sends the form with the
 *   answer in `passkey`. `<div data-new-passkey="{…}">` lets the device make one.
 * - `<form data-check>` shows what is wrong while it is filled in: the server answers `action=check` with the problems as JSON.
 * - `data-fields` holds the fields of a form, each in a `data-field` with its index. Its buttons, Alt with an arrow and its `data-grip`
 *   change it without loading the page again, and `data-preview` shows what visitors see.
 * - `<form data-unsaved>` asks before what was typed is lost.
 *
 * Buttons that need script are hidden without it by the style sheet.
 */
import { checkWhileTyping } from "./check.ts";
import { addCopyButtons } from "./copy.ts";
import { editFieldsInPlace } from "./field-list.ts";
import { listenToKeys, showKeysSetting } from "./keys.ts";
import { takeInvitation, takeLinkToken } from "./link-token.ts";
import { followNews } from "./live.ts";
import { offerPasskeys } from "./passkeys.ts";
import { keepRelativeTimes } from "./relative-times.ts";
import { ignoreSecondPress } from "./second-press.ts";
import { followSelection } from "./selection.ts";
import { guardUnsaved } from "./unsaved.ts";

keepRelativeTimes();
addCopyButtons();
showKeysSetting();
listenToKeys();
followSelection();
guardUnsaved();
ignoreSecondPress();
checkWhileTyping();
editFieldsInPlace();
takeLinkToken();
takeInvitation();
offerPasskeys();
followNews();
