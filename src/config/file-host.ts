import type { Config } from "./config.ts";

/** Whether a request came to the host that serves only files. @param host the request's Host header, with its port */
export function isFileHost({ files }: Pick<Config, "files">, host: string | undefined): boolean {
  if (files.baseUrl === null || host === undefined) return false;
  const { protocol } = new URL(files.baseUrl);
  // Parsed as an address, so that a default port equals none.
  const asked = `${protocol}//${host}`;
  return URL.canParse(asked) && new URL(asked).host === new URL(files.baseUrl).host;
}
