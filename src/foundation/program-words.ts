/** What a program said of a failure, behind its code and without repeating that: `ECONNREFUSED: connect 127.0.0.1:9`. */
export function programWords(code: string, detail: string): string {
  return `${code}: ${detail.replace(`${code} `, "")}`;
}
