import { z } from "zod";

/** Members of outputs that are shown only once and stored nowhere, so that no repeated answer has them. */
const SHOWN_ONCE = z.registry<{ readonly shownOnce: true }>();
/** Members that change by themselves, like counters and times of use. Such a change is no change of the object that they belong to. */
const VOLATILE = z.registry<{ readonly volatile: true }>();

/** Marks a member as a secret that only this answer has. Call it last, because a type that zod derives from the marked one has no mark. */
export function shownOnce<Type extends z.ZodType>(type: Type): Type {
  SHOWN_ONCE.add(type, { shownOnce: true });
  return type;
}

/** Marks a member as one that changes by itself. Call it last too. */
export function volatile<Type extends z.ZodType>(type: Type): Type {
  VOLATILE.add(type, { volatile: true });
  return type;
}

/** The output without its secrets. */
export function withoutSecrets(type: z.ZodType, output: unknown): unknown {
  return without(type, output, (each) => SHOWN_ONCE.has(each));
}

/** The output without the members that change by themselves. */
export function withoutVolatile(type: z.ZodType, output: unknown): unknown {
  return without(type, output, (each) => VOLATILE.has(each));
}

/** Whether an output may have secrets. */
export function hasSecrets(type: z.ZodType): boolean {
  if (SHOWN_ONCE.has(type)) return true;
  const inner = inside(type);
  if (inner !== null) return hasSecrets(inner);
  if (type instanceof z.ZodArray) return hasSecrets(type.element as z.ZodType);
  return type instanceof z.ZodObject && Object.values(type.shape).some(hasSecrets);
}

type Shape = Readonly<Record<string, z.ZodType>>;

function without(type: z.ZodType, value: unknown, isMarked: (type: z.ZodType) => boolean): unknown {
  const inner = inside(type);
  if (inner !== null) return without(inner, value, isMarked);
  if (type instanceof z.ZodArray && Array.isArray(value))
    return value.map((each) => without(type.element as z.ZodType, each, isMarked));
  if (!(type instanceof z.ZodObject) || typeof value !== "object" || value === null) return value;
  const shape = type.shape as Shape;
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const own = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (own === undefined) return [[name, member]];
    return carriesMark(own, isMarked) ? [] : [[name, without(own, member, isMarked)]];
  });
  return Object.fromEntries(kept);
}

function carriesMark(type: z.ZodType, isMarked: (type: z.ZodType) => boolean): boolean {
  if (isMarked(type)) return true;
  const inner = inside(type);
  return inner !== null && carriesMark(inner, isMarked);
}

/** The type inside one `optional`, `nullable`, `default` or `readonly`; null if it is none of these. */
function inside(type: z.ZodType): z.ZodType | null {
  const isWrapper =
    type instanceof z.ZodOptional ||
    type instanceof z.ZodNullable ||
    type instanceof z.ZodDefault ||
    type instanceof z.ZodReadonly;
  return isWrapper ? (type.unwrap() as z.ZodType) : null;
}

/** The type inside all such wrappers. */
export function unwrapped(type: z.ZodType): z.ZodType {
  const inner = inside(type);
  return inner === null ? type : unwrapped(inner);
}
