import * as fc from "fast-check";
import type { FieldDefinition } from "../../src/schemas/field-definition.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";

/** A definition together with bodies that it must accept: the rules are derived from the bodies. */
export interface Sample {
  readonly definition: SchemaDefinition;
  readonly bodies: readonly Record<string, unknown>[];
}

interface FieldSample {
  readonly field: FieldDefinition;
  /** Always `EXAMPLES` of them, so that objects can be made of their members' examples in step. */
  readonly examples: readonly unknown[];
}

const EXAMPLES = 3;

/** Patterns that RE2 and JavaScript's `u` mode read alike, each with texts that match. */
const PATTERNS: readonly (readonly [source: string, ...texts: string[]])[] = [
  ["^[a-z]+$", "abc", "z", "formsvc"],
  ["[0-9]{2,4}", "12", "x1234y", "00"],
  ["^(red|green|blue)$", "red", "green", "blue"],
  ["^[^@]*$", "", "Grüße 🙂", "plain"],
  ["a?b*c$", "c", "aabbc", "xyzabc"],
  ["(?i)hello", "Hello there", "HELLO", "oh hello"],
];

const EMAILS = ["ann@example.com", "a.b+c'd_e@sub-domain.example.org", "A1@x.yy", "0-@9-.zz"];
const URLS = [
  "https://example.com/a?b=c#d",
  "http://localhost:8080",
  " https://example.com ",
  "http:example.com",
];
const DATES = ["2026-11-30", "2024-02-29", "0001-01-01", "9999-12-31"];
const PHONES = ["+44 20 7946 0958", "(030) 1234-567", "01234", "089/12.34.56"];
const NAMES = [
  "name",
  "email",
  "_gotcha",
  "a b",
  "Ünïcode",
  "0",
  "42",
  "x.y",
  "length",
  "then",
  "$ref",
  "a'b",
];

const fieldName = fc
  .oneof(fc.constantFrom(...NAMES), fc.string({ minLength: 1, maxLength: 8 }))
  .filter((name) => name !== "__proto__" && !(name in {}));

export const json: fc.Arbitrary<unknown> = fc.jsonValue({ maxDepth: 3 });

/** JSON without `__proto__` members, which have tests of their own. */
export const plainJson: fc.Arbitrary<unknown> = json.map(
  (value) => JSON.parse(JSON.stringify(value).replaceAll('"__proto__":', '"proto":')) as unknown,
);

function three<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(value, { minLength: EXAMPLES, maxLength: EXAMPLES });
}

/** Some of the given properties, each present or not. */
function some<T extends object>(properties: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<
  Partial<T>
> {
  return fc.record(properties, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

function common(examples: readonly unknown[]): {
  required: fc.Arbitrary<boolean>;
  description: fc.Arbitrary<string>;
  default: fc.Arbitrary<unknown>;
} {
  return {
    required: fc.boolean(),
    description: fc.string({ maxLength: 5 }),
    default: fc.constantFrom(...examples),
  };
}

const slack = fc.nat({ max: 2 });

const stringSample: fc.Arbitrary<FieldSample> = fc
  .oneof(
    three(fc.string({ maxLength: 6, unit: "binary" })).map((examples) => ({ examples, rule: {} })),
    three(fc.constantFrom(...EMAILS)).map((examples) => ({ examples, rule: { format: "email" } })),
    three(fc.constantFrom(...URLS)).map((examples) => ({ examples, rule: { format: "url" } })),
    three(fc.constantFrom(...DATES)).map((examples) => ({ examples, rule: { format: "date" } })),
    three(fc.constantFrom(...PHONES)).map((examples) => ({ examples, rule: { format: "phone" } })),
    fc
      .constantFrom(...PATTERNS)
      .chain(([pattern, ...texts]) =>
        three(fc.constantFrom(...texts)).map((examples) => ({ examples, rule: { pattern } })),
      ),
  )
  .chain(({ examples, rule }) => {
    const lengths = examples.map((example) => example.length);
    return some({
      ...common(examples),
      minLength: slack.map((less) => Math.max(0, Math.min(...lengths) - less)),
      maxLength: slack.map((more) => Math.max(...lengths) + more),
      enum: fc.constant([...new Set(examples)]),
    }).map((properties) => ({
      field: { type: "string", ...rule, ...properties } as FieldDefinition,
      examples,
    }));
  });

const numberSample: fc.Arbitrary<FieldSample> = three(
  fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
).chain((examples) =>
  some({
    ...common(examples),
    minimum: slack.map((less) => Math.min(...examples) - less).filter(Number.isFinite),
    maximum: slack.map((more) => Math.max(...examples) + more).filter(Number.isFinite),
    enum: fc.constant([...new Set(examples)]),
  }).map((properties) => ({ field: { type: "number", ...properties } as FieldDefinition, examples })),
);

const booleanSample: fc.Arbitrary<FieldSample> = three(fc.boolean()).chain((examples) =>
  some({ ...common(examples), enum: fc.constant([...new Set(examples)]) }).map((properties) => ({
    field: { type: "boolean", ...properties } as FieldDefinition,
    examples,
  })),
);

function objectSample(depth: number): fc.Arbitrary<FieldSample> {
  const free = three(fc.dictionary(fieldName, plainJson, { maxKeys: 3 })).map((examples) => ({
    examples,
    rule: {},
  }));
  const declared = members(depth - 1).map(({ definition, bodies }) => ({
    examples: bodies,
    rule: { properties: definition },
  }));
  return fc.oneof(free, declared).chain(({ examples, rule }) =>
    some(common(examples)).map((properties) => ({
      field: { type: "object", ...rule, ...properties } as FieldDefinition,
      examples: [...examples],
    })),
  );
}

function arraySample(depth: number): fc.Arbitrary<FieldSample> {
  const free = three(fc.array(plainJson, { maxLength: 3 })).map((examples) => ({ examples, rule: {} }));
  const declared = fieldSample(depth - 1).chain(({ field, examples }) =>
    three(fc.array(fc.constantFrom(...examples), { maxLength: 4 })).map((lists) => ({
      examples: lists,
      rule: { items: field },
    })),
  );
  return fc.oneof(free, declared).chain(({ examples, rule }) => {
    const lengths = examples.map((example) => example.length);
    return some({
      ...common(examples),
      minItems: slack.map((less) => Math.max(0, Math.min(...lengths) - less)),
      maxItems: slack.map((more) => Math.max(...lengths) + more),
    }).map((properties) => ({
      field: { type: "array", ...rule, ...properties } as FieldDefinition,
      examples,
    }));
  });
}

function fieldSample(depth: number): fc.Arbitrary<FieldSample> {
  const plain = fc.oneof({ arbitrary: stringSample, weight: 3 }, numberSample, booleanSample);
  if (depth <= 0) return plain;
  return fc.oneof({ arbitrary: plain, weight: 3 }, objectSample(depth), arraySample(depth));
}

function members(depth: number): fc.Arbitrary<Sample> {
  return fc
    .uniqueArray(fc.tuple(fieldName, fieldSample(depth), fc.nat({ max: 1 })), {
      selector: ([name]) => name,
      maxLength: 4,
    })
    .map((fields) => ({
      definition: Object.fromEntries(fields.map(([name, { field }]) => [name, field])),
      bodies: Array.from({ length: EXAMPLES }, (_, index) =>
        Object.fromEntries(
          fields
            .filter(([, { field }, absent]) => absent === 0 || index === 0 || field.required === true)
            .map(([name, { examples }]) => [name, examples[index]]),
        ),
      ),
    }));
}

export const sample: fc.Arbitrary<Sample> = members(2);

/** A body that is nearly right: one of the sample's, with a few values replaced, removed, added or stretched. */
export function nearMiss(bodies: readonly Record<string, unknown>[]): fc.Arbitrary<Record<string, unknown>> {
  const edit = fc.record({
    at: fc.nat({ max: 30 }),
    kind: fc.constantFrom("replace", "remove", "add", "stretch"),
    name: fieldName,
    value: plainJson,
  });
  return fc.tuple(fc.constantFrom(...bodies), fc.array(edit, { maxLength: 4 })).map(([body, edits]) => {
    const copy = JSON.parse(JSON.stringify(body)) as Record<string, unknown>;
    for (const { at, kind, name, value } of edits) {
      const containers = findContainers(copy);
      const container = containers[at % containers.length] ?? copy;
      const keys = Object.keys(container);
      const key = keys[at % Math.max(1, keys.length)];
      if (kind === "add" || key === undefined) {
        if (Array.isArray(container)) container.push(value);
        else container[name] = value;
      } else if (Array.isArray(container)) {
        container[Number(key)] = kind === "stretch" ? stretch(container[Number(key)]) : value;
      } else if (kind === "remove") delete container[key];
      else container[key] = kind === "stretch" ? stretch(container[key]) : value;
    }
    return copy;
  });
}

function stretch(value: unknown): unknown {
  if (typeof value === "string") return value.length % 2 === 0 ? `${value}xyz` : value.slice(1);
  if (typeof value === "number") return value + (value > 0 ? 3 : -3);
  return Array.isArray(value) ? [...(value as unknown[]), ...(value as unknown[]), null] : [value];
}

type Container = Record<string, unknown> | unknown[];

function findContainers(value: unknown): Container[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Container, ...Object.values(value).flatMap(findContainers)];
}
