import { writeFileSync } from "node:fs";
import { letterPairs } from "./spam/letter-pairs.ts";
import { ownTexts, readOwnTexts, readTrainingData, type LabelledText } from "./spam/texts.ts";
import { trainModel } from "./spam/train-model.ts";

const target = new URL("../src/spam/text-model.generated.ts", import.meta.url);

/** Writes the source of the module that contains the weights in the executable. The same texts always make the same bytes. */
export function renderModel(texts: readonly LabelledText[]): string {
  const { bias, steps, weights } = trainModel(texts);
  return [
    "// Made by scripts/train-spam.ts; docs/spam-model.md says from what.",
    `export const TEXT_BIAS = ${bias.toPrecision(6)};`,
    `export const TEXT_STEPS = ${JSON.stringify(steps)};`,
    `export const TEXT_WEIGHTS = new Uint8Array(\n  Buffer.from("${Buffer.from(weights.buffer).toString("base64")}", "base64"),\n);`,
    `export const LETTER_PAIRS =\n  "${Buffer.from(letterPairs(texts)).toString("base64")}";`,
    "",
  ].join("\n");
}

/** Returns all texts that may be used for training: the training file in the data directory, and the project's own texts. */
export function trainingTexts(dataDirectory: string): LabelledText[] {
  return [...readTrainingData(dataDirectory), ...readOwnTexts(ownTexts)];
}

if (import.meta.main) {
  const directory = process.argv[2];
  if (directory === undefined) throw new Error("usage: npm run train:spam -- DATA_DIR");
  writeFileSync(target, renderModel(trainingTexts(directory)));
}
