/**
 * The element as its type describes it, for reading its properties and calling its methods. Of a form itself, an input that is named `reset`
 * or `elements` takes the place of the property with that name. If an object must be the form, as in `FormData`, pass the form.
 */
export function viewOf<Viewed extends HTMLElement>(element: Viewed): Viewed {
  return new Proxy(element, {
    get: (_element, name) => {
      const value: unknown = Reflect.get(HTMLFormElement.prototype, name, element);
      return typeof value === "function" ? value.bind(element) : value;
    },
  });
}
