/** A value that is here, or comes. To wait for one that is here would put off what follows until other work was done. */
export type MaybeLater<Value> = Value | Promise<Value>;

/** What follows from a value, at once if it is here. */
export function andThen<Value, Result>(
  value: MaybeLater<Value>,
  follow: (value: Value) => MaybeLater<Result>,
): MaybeLater<Result> {
  return value instanceof Promise ? value.then(follow) : follow(value);
}

/** The result of work, or what follows from its error, whether that is thrown or comes. */
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
