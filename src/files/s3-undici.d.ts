/* A single request of undici, without its index. */
declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici";

  /** Call it with the dispatcher as `this`. */
  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>;
}
