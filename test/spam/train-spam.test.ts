import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { renderModel, trainingTexts } from "../../scripts/train-spam.ts";
import { TEXT_WEIGHTS } from "../../src/spam/text-model.generated.ts";

const data =
  process.env["FORMSVC_SPAM_DATA"] ?? fileURLToPath(new URL("../../../shared/data/spam", import.meta.url));
const generated = new URL("../../src/spam/text-model.generated.ts", import.meta.url);

test("the weights take at most 130 KiB", () => {
  expect(TEXT_WEIGHTS.byteLength).toBeLessThanOrEqual(133_120);
});

test.skipIf(!existsSync(`${data}/train.jsonl.gz`))(
  "training again gives the committed weights, byte for byte (skipped without FORMSVC_SPAM_DATA or ../shared/data/spam)",
  { timeout: 120_000 },
  () => {
    expect(renderModel(trainingTexts(data)) === readFileSync(generated, "utf8")).toBe(true);
  },
);
