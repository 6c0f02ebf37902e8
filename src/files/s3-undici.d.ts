/* The part of undici that makes a single request, imported without undici's index. */
declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici";

  /** Must be called with the dispatcher as `this`. */
  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>;
}
