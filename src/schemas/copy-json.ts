type Container = Record<string, unknown> | unknown[];

/**
 * Copies a JSON value, without members named `__proto__` at any depth, because these are never fields. Walks without recursion, so that any
 * depth of nesting is possible.
 */
export function copyJson(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const copy = emptyLike(value);
  const pending: [Container, Container][] = [[value, copy]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [source, target] = next as [Record<string, unknown>, Record<string, unknown>];
    for (const name of Object.keys(source)) {
      if (name === "__proto__") continue;
      const member = source[name];
      if (!isContainer(member)) {
        target[name] = member;
        continue;
      }
      const memberCopy = emptyLike(member);
      target[name] = memberCopy;
      pending.push([member, memberCopy]);
    }
  }
  return copy;
}

/** Whether a JSON value is an object, and not an array, null or a plain value. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

function emptyLike(value: Container): Container {
  return Array.isArray(value) ? [] : {};
}
