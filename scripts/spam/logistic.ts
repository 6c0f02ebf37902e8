import { seededRandom } from "./seeded-random.ts";

/** The features of one kind in a document. */
export interface FeatureGroup {
  /** The indices of their weights. */
  readonly places: Readonly<Uint32Array>;
  /** The number of features for the scaling: each is divided by its root. */
  readonly size: number;
}

/** A document for training: its features, whether it is spam, and how much it counts. */
export interface Example {
  /** The features by kind. */
  readonly groups: readonly FeatureGroup[];
  readonly spam: boolean;
  readonly weight: number;
}

export interface LinearModel {
  readonly weights: Float64Array;
  readonly bias: number;
}

export interface TrainingChoice {
  /** The number of times that every example is seen. */
  readonly epochs: number;
  /** The number of epochs whose weights do not count. The model is the mean of the epochs after them, which makes it steadier. */
  readonly settled: number;
  readonly rate: number;
  /** How strongly each weight is pulled towards 0. */
  readonly decay: number;
}

const SEED = 20_260_401;

/**
 * Trains a logistic regression by AdaGrad over the examples in a shuffled order. Each kind of feature is scaled by its number, so that long
 * and short texts count the same. The result is always the same, because the seed is constant.
 */
export function trainLogistic(
  examples: readonly Example[],
  size: number,
  choice: TrainingChoice,
): LinearModel {
  const weights = new Float64Array(size);
  const squares = new Float64Array(size).fill(1e-4);
  const sums = new Float64Array(size);
  let bias = 0;
  let biasSquares = 1e-4;
  let biasSum = 0;
  const order = Array.from(examples.keys());
  const random = seededRandom(SEED);
  for (let epoch = 0; epoch < choice.epochs; epoch += 1) {
    shuffle(order, random);
    for (const index of order) {
      const example = examples[index];
      if (example === undefined) continue;
      const slope = example.weight * (probability(weights, bias, example) - (example.spam ? 1 : 0));
      for (const group of example.groups) {
        const value = scaleOf(group);
        for (const bucket of group.places) {
          const gradient = slope * value + choice.decay * example.weight * value * (weights[bucket] ?? 0);
          const square = (squares[bucket] ?? 0) + gradient * gradient;
          squares[bucket] = square;
          weights[bucket] = (weights[bucket] ?? 0) - (choice.rate * gradient) / Math.sqrt(square);
        }
      }
      biasSquares += slope * slope;
      bias -= (choice.rate * slope) / Math.sqrt(biasSquares);
    }
    if (epoch < choice.settled) continue;
    weights.forEach((weight, bucket) => (sums[bucket] = (sums[bucket] ?? 0) + weight));
    biasSum += bias;
  }
  const averaged = choice.epochs - choice.settled;
  return { weights: sums.map((sum) => sum / averaged), bias: biasSum / averaged };
}

function probability(weights: Readonly<Float64Array>, bias: number, example: Example): number {
  let sum = bias;
  for (const group of example.groups) {
    let part = 0;
    for (const bucket of group.places) part += weights[bucket] ?? 0;
    sum += part * scaleOf(group);
  }
  return 1 / (1 + Math.exp(-sum));
}

function scaleOf({ size }: FeatureGroup): number {
  return size === 0 ? 0 : 1 / Math.sqrt(size);
}

function shuffle(order: number[], random: () => number): void {
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
}
