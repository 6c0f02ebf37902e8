/**
 * Runs in a page. Lists how the visible text looks: each kind of element, with its colours and the backgrounds behind it. These decide the
 * contrast, so text that looks like text that was already checked need not be checked again. `elementsOfLooks` has the elements of each.
 */
export const TEXT_LOOKS = String.raw`(() => {
  const groundOf = ({ backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position }) => {
    const ground = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position].join(" ");
    return /^rgba\(\d+, \d+, \d+, 0\) none 1 none normal (?:static|relative)$/.test(ground) ? "" : ground + "; ";
  };
  const grounds = new Map([[null, ""]]);
  const groundsOf = (each) => {
    if (!grounds.has(each)) grounds.set(each, groundOf(getComputedStyle(each)) + groundsOf(each.parentElement));
    return grounds.get(each);
  };
  const lookOf = (each) => {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(each);
    const isDisabled = each.matches(":disabled, [aria-disabled=true]");
    return [each.localName, each.type, each.className, isDisabled, color, fontSize, fontWeight, textShadow, groundsOf(each)].join("; ");
  };
  const hasText = (each) => each.matches("input, select, textarea") ||
    [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  const shown = [...document.body.querySelectorAll("*")].filter((each) => hasText(each) && each.checkVisibility({ visibilityProperty: true }));
  globalThis.elementsOfLooks = Map.groupBy(shown, lookOf);
  return [...elementsOfLooks.keys()];
})()`;

/** Runs in a page after {@link TEXT_LOOKS}. Lists the elements whose text has one of these looks. */
export const elementsOf = (looks: readonly string[]): string =>
  `${JSON.stringify(looks)}.flatMap((look) => elementsOfLooks.get(look))`;
