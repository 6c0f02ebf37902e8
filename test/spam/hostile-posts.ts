import type { SpamPost } from "../../src/spam/spam-post.ts";
import { client } from "./posts.ts";

const LENGTH = 65_536;
/** Beginnings of whatever some signal looks for, so that each has much to begin and nothing to finish. */
const PIECES = [
  ..."a|www.|a.|<a href |your |$1 |аa|&amp;|@|\n|1.|x@|http://|(|你|' or |free |1 |a\u0301|\ufdfa|\u200b|<img |..".split(
    "|",
  ),
  ..."\ud83d|aB|union |[url|{{1|https://a.b |a.co/ |$ 1.|1,|-|a-.|a_b.|A |qwrtypsdfg |QwErTyUiOp |\u00a0|\u3000|İ|ß".split(
    "|",
  ),
  ..."your a |we offer |bit.ly/a |x.xyz |price |seo |𝐀|ａ|раураl |a\u200bb|&lt;|../../|sleep(|%|€|١|ʼ|'|a'b|.a|://|贷|款低价|대출|ก|ולה".split(
    "|",
  ),
];
const MIXES = 60;

export interface HostilePost {
  readonly name: string;
  readonly post: SpamPost;
}

/** Posts of 64 KiB and more that are made to keep some signal busy: by hand, and mixed with a fixed seed. */
export function hostilePosts(): HostilePost[] {
  const random = seeded(20_261_121);
  const texts = PIECES.map((piece): [string, string] => [JSON.stringify(piece), piece.repeat(LENGTH)]);
  for (let index = 0; index < MIXES; index += 1) {
    const few = Array.from({ length: 2 + random(6) }, () => PIECES[random(PIECES.length)] ?? "");
    const parts = Array.from({ length: 40_000 }, () => few[random(few.length)] ?? "");
    texts.push([`a mix of ${JSON.stringify(few)}`, parts.join("")]);
  }
  const inFields = texts.map(([name, long]): HostilePost => {
    const text = long.slice(0, LENGTH);
    const honeypots = [{ name: "_gotcha", value: text }];
    const fields = {
      name: text.slice(0, 200),
      email: `${text.slice(0, 60)}@x.y`,
      message: text,
      list: [text],
    };
    return {
      name,
      post: { fields, honeypots, elapsedMs: 1, client: { ...client, userAgent: text.slice(0, 512) } },
    };
  });
  return [...inFields, ...hostileShapes()];
}

function hostileShapes(): HostilePost[] {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`your_name${index}`, "aB.co"]));
  let deep: unknown = "a.co";
  for (let depth = 0; depth < 5000; depth += 1) deep = [deep, "a"];
  const shapes = {
    "thousands of fields": many,
    "a deep list": { deep },
    "a long list": { list: Array(16_000).fill("a") },
  };
  return Object.entries(shapes).map(([name, fields]) => ({
    name,
    post: { fields, honeypots: [], elapsedMs: null, client },
  }));
}

/** Whole numbers below a limit, the same in each run. */
function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
