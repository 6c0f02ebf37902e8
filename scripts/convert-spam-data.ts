import { type DataRow, readRows } from "./spam/texts.ts";

const [, , file, flag] = process.argv;
if (file === undefined || (flag !== undefined && flag !== "--one-per-cluster")) {
  throw new Error(
    "usage: node scripts/convert-spam-data.ts FILE.jsonl[.gz] [--one-per-cluster] > EVAL.jsonl",
  );
}

/**
 * Prints a data file as rows for `formsvc spam eval`. With `--one-per-cluster`, it prints only the first contact-form message of each
 * cluster of near-copies, which is how the figures in docs/spam.md count them.
 */
const seen = new Set<number>();
for (const { id, source, label, text, subject, cluster } of readRows<DataRow>(file)) {
  if (flag !== undefined && cluster !== undefined && source.startsWith("contact-form")) {
    if (seen.has(cluster)) continue;
    seen.add(cluster);
  }
  const data = subject ? { subject, message: text } : { message: text };
  process.stdout.write(`${JSON.stringify({ id, source, label, data })}\n`);
}
