import type { Config } from "./config.ts";

/** Whether a request came to the host that is for files alone. @param host of the request, with its port */
export function isFileHost({ files }: Pick<Config, "files">, host: string | undefined): boolean {
  if (files.baseUrl === null || host === undefined) return false;
  const { protocol } = new URL(files.baseUrl);
  // Read as an address, so that the usual port counts as none.
  const asked = `${protocol}//${host}`;
  return URL.canParse(asked) && new URL(asked).host === new URL(files.baseUrl).host;
}
