import type { SpamReason } from "../spam-verdict.ts";
import { POINTS } from "../points.ts";
import type { ReadPost } from "../read-post.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** Only texts of at least this length count as typed. Browsers fill in shorter ones by themselves, faster than a person can type. */
const TYPED_LENGTH = 30;
const MAX_SHOWN = 60;

/** Signals of how the post was made: the time that it took, and what the client says about itself. */
export function behaviourReasons(read: ReadPost): SpamReason[] {
  return [...fillTimeReasons(read), ...clientReasons(read), ...challengeReasons(read)];
}

const CHALLENGES = {
  missing: "the form's challenge was not solved",
  wrong: "the form's challenge was solved wrongly, too late or twice",
} as const;

function challengeReasons({ post: { challenge } }: ReadPost): SpamReason[] {
  if (challenge === undefined) return [];
  return [{ signal: "challenge", points: POINTS.challenge, field: null, detail: CHALLENGES[challenge] }];
}

function fillTimeReasons(read: ReadPost): SpamReason[] {
  const { elapsedMs } = read.post;
  if (elapsedMs === null || read.body.length < TYPED_LENGTH) return [];
  const reason = (points: number, detail: string): SpamReason[] => [
    { signal: "fill-time", points, field: null, detail },
  ];
  if (elapsedMs < 1000) return reason(POINTS["fill-time"].instant, "filled in less than a second");
  if (elapsedMs < 3000) return reason(POINTS["fill-time"].quick, "filled in less than three seconds");
  return elapsedMs > DAY_MS ? reason(POINTS["fill-time"].slow, "form was open for more than a day") : [];
}

const LIBRARY =
  /^(?:curl|wget|python|go-http-client|java|okhttp|libwww-perl|lwp|ruby|php|axios|node|undici|guzzlehttp|apache-httpclient|scrapy|aiohttp|httpx|perl|postmanruntime|insomnia|winhttp|restsharp)\b/i;
/** Browsers that name a cleaning tool. One family of robots does so; this is from experience, without a measured figure. */
const ODD = /\b(?:ccleaner|avast)\//i;

function countOf(character: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count += 1;
  return count;
}

function clientReasons(read: ReadPost): SpamReason[] {
  const { client } = read.post;
  if (client === null) return [];
  const reasons: SpamReason[] = [];
  const agent = client.userAgent === undefined ? null : (client.userAgent ?? "").trim();
  const reason = (signal: string, points: number, detail: string): void => {
    reasons.push({ signal, points, field: null, detail });
  };
  if (agent === "") reason("user-agent", POINTS["user-agent"].none, "no User-Agent");
  else if (agent !== null && LIBRARY.test(agent))
    reason("user-agent", POINTS["user-agent"].program, `sent by a program: ${agent.slice(0, MAX_SHOWN)}`);
  else if (agent !== null && (ODD.test(agent) || countOf("(", agent) !== countOf(")", agent))) {
    reason("user-agent", POINTS["user-agent"].odd, `odd User-Agent: ${agent.slice(0, MAX_SHOWN)}`);
  }
  if (client.acceptLanguage === null)
    reason("accept-language", POINTS["accept-language"], "no Accept-Language");
  return reasons;
}
