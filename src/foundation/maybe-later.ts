/**
 * A value, or a promise of it. A caller that awaits a value it already has would wait until other work was done; the helpers below avoid
 * that.
 */
export type MaybeLater<Value> = Value | Promise<Value>;

/** Passes a value to a function: at once if it is not a promise. */
export function andThen<Value, Result>(
  value: MaybeLater<Value>,
  follow: (value: Value) => MaybeLater<Result>,
): MaybeLater<Result> {
  return value instanceof Promise ? value.then(follow) : follow(value);
}

/** The result of work, or what `answer` makes of its error, whether the work throws or rejects. */
export function orElse<Result>(
  work: () => MaybeLater<Result>,
  answer: (error: unknown) => Result,
): MaybeLater<Result> {
  try {
    const result = work();
    return result instanceof Promise ? result.catch(answer) : result;
  } catch (error) {
    return answer(error);
  }
}
