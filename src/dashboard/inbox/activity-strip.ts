import type { Steps } from "../../database/steps.ts";
import { monthOf } from "../../foundation/clock.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { DayCount } from "../../submissions/find/count-by-day.ts";
import type { NamedUsage, Plans, Usage, Workspace } from "../../workspaces/workspace.ts";
import { readUsages } from "../../workspaces/usage-store.ts";
import type { FindingLine } from "../system/finding-line.ts";
import { grouped } from "../kit/numbers.ts";
import { planName } from "../system/plan-name.ts";
import { dayName } from "../kit/time.ts";
import { meterTone } from "../system/usage-view.ts";

/** The number of days in the chart. */
export const SHOWN_DAYS = 30;
/** The number of days with posts from which a chart says more than a sentence. */
const MIN_BUSY_DAYS = 3;
const HEIGHT = 56;
const SLOT = 20;
const BAR = 14;

/** The usage that the strip shows: that of the workspace that has used the largest share of its monthly limit. Null if there is none. */
export function* readFullest(
  workspaces: readonly Workspace[],
  plans: Plans,
  now: number,
): Steps<NamedUsage | null> {
  const usages = yield* readUsages(workspaces, monthOf(now), plans);
  return usages.reduce<NamedUsage | null>(
    (fullest, usage) => (fullest === null || shareOf(usage) > shareOf(fullest) ? usage : fullest),
    null,
  );
}

/** The used share of the limit, from 0 to 1 or more. It is 0 for an unlimited plan. */
function shareOf({ used, limit }: Usage): number {
  return limit === null ? 0 : used / Math.max(1, limit);
}

export interface ActivityParts {
  /** Null while they are being counted. */
  readonly days: readonly DayCount[] | null;
  readonly usage: NamedUsage | null;
  /** Whether the viewer has several workspaces, so that the usage must name its workspace. */
  readonly isOneOfSeveral: boolean;
}

/** The last days as bars, a sentence that says the same, and the used part of the monthly limit. */
export function activityStrip({ days, usage, isOneOfSeveral }: ActivityParts): Html {
  const hasChart = days === null || busyDays(days) >= MIN_BUSY_DAYS;
  return html`<section class="strip${hasChart ? "" : " few"}" aria-label="The last ${SHOWN_DAYS} days">
    <div>
      ${
        days === null
          ? html`<p class="muted">
              The submissions of the last ${SHOWN_DAYS} days are being counted. <a href="/dashboard">Look again</a>
            </p>`
          : html`${hasChart && chart(days)}
              <p class="muted">${sentenceOf(days)}</p>`
      }
    </div>
    ${usage !== null && usageView(usage, isOneOfSeveral)}
  </section>`;
}

function busyDays(days: readonly DayCount[]): number {
  return days.filter(({ accepted, held }) => accepted + held > 0).length;
}

function chart(days: readonly DayCount[]): Html {
  const most = Math.max(1, ...days.map(({ accepted, held }) => accepted + held));
  const heightOf = (count: number): number =>
    count === 0 ? 0 : Math.max(1, Math.round((count / most) * (HEIGHT - 6)));
  return html`<svg class="chart" viewBox="0 0 ${SLOT * days.length} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
    ${days.map(({ day, accepted, held }, index) => {
      const [low, high] = [heightOf(accepted), heightOf(held)];
      const x = index * SLOT + (SLOT - BAR) / 2;
      const gap = low > 0 && high > 0 ? 1 : 0;
      return html`<g>
        <title>${dayName(day)}: ${accepted} accepted, ${held} held</title>
        ${low > 0 && html`<rect class="ok" x="${x}" y="${HEIGHT - 1 - low}" width="${BAR}" height="${low}" rx="1" />`}
        ${high > 0 && html`<rect class="held" x="${x}" y="${HEIGHT - 1 - low - gap - high}" width="${BAR}" height="${high}" rx="1" />`}
      </g>`;
    })}
    <line class="axis" x1="0" x2="${SLOT * days.length}" y1="${HEIGHT - 0.5}" y2="${HEIGHT - 0.5}" />
  </svg>`;
}

function sentenceOf(days: readonly DayCount[]): string {
  const accepted = days.reduce((sum, day) => sum + day.accepted, 0);
  const held = days.reduce((sum, day) => sum + day.held, 0);
  const busiest = days.reduce<DayCount | null>(
    (most, day) => (day.accepted > (most?.accepted ?? 0) ? day : most),
    null,
  );
  const most = busiest === null ? "" : `; most on ${dayName(busiest.day)} (${grouped(busiest.accepted)})`;
  return `${grouped(accepted)} accepted and ${grouped(held)} held in ${days.length} days${most}.`;
}

function usageView(usage: NamedUsage, isOneOfSeveral: boolean): Html {
  const { used, limit, plan, name } = usage;
  const of = limit === null ? null : html` <span class="muted">of ${grouped(limit)}</span>`;
  const percent = Math.min(100, Math.round(100 * shareOf(usage)));
  return html`<div>
    <p class="figure num">${grouped(used)}${of}</p>
    <p class="muted">
      this month on ${planName(plan)}${isOneOfSeveral && html` in <bdi>${name}</bdi>`}
    </p>
    ${
      limit !== null &&
      html`<div class="meter ${meterTone(used, limit)}">
        <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width="${percent}" height="6" /></svg>
      </div>`
    }
  </div>`;
}

/** The findings that a person has to do something about. */
export function findingsStrip(findings: readonly FindingLine[]): Html | null {
  if (findings.length === 0) return null;
  return html`<ul class="findings" aria-label="What needs you">
    ${findings.map(
      ({ text, href, label, actions }) =>
        html`<li><span>${text}</span>${href !== undefined && html` <a href="${href}">${label ?? "See why"}</a>`}${actions}</li>`,
    )}
  </ul>`;
}
