/** A longer name is no typing error, and is not compared. */
const MAX_COMPARED_LENGTH = 40;
/** The largest number of typing errors that still point to a name: one in three letters, and at most three. */
const MAX_DISTANCE = 3;

/** The shortest beginning that stands for the whole name, as `min` does for `minLength`. */
const MIN_BEGINNING_LENGTH = 3;

/** The candidate that was most likely meant by `name`; undefined if none is near. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_COMPARED_LENGTH) return undefined;
  const beginning = name.length < MIN_BEGINNING_LENGTH ? undefined : name.toLowerCase();
  const whole = candidates.find(
    (candidate) => beginning !== undefined && candidate.toLowerCase().startsWith(beginning),
  );
  return whole ?? closest(name, candidates);
}

function closest(name: string, candidates: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    const mostAllowed = Math.min(MAX_DISTANCE, Math.ceil(candidate.length / 3));
    if (distance < least && distance <= mostAllowed) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

/** Levenshtein's distance: the number of letters that are inserted, removed or replaced. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
