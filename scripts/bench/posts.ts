import { POST_BODY } from "./workplace.ts";

const POST_INTERVAL_MS = 5;

/** Posts every 5 ms, whether or not the post before was answered. Returns how long each took, in milliseconds. */
export async function postsFor(base: string, key: string, seconds: number): Promise<number[]> {
  const taken: number[] = [];
  const posts: Promise<void>[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    posts.push(postOnce(base, key).then((ms) => void taken.push(ms)));
    await new Promise((resolve) => setTimeout(resolve, POST_INTERVAL_MS));
  }
  await Promise.all(posts);
  return taken;
}

async function postOnce(base: string, key: string): Promise<number> {
  const begun = performance.now();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(`${base}/submit`, { method: "POST", headers, body: POST_BODY });
  await answer.text();
  if (answer.status !== 200) throw new Error(`a post was answered ${answer.status}`);
  return performance.now() - begun;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
