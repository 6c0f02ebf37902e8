/** An e-mail as a mail program shows it. */
export interface ReadMail {
  /** Names and values in their order, unfolded. Encoded words are decoded. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Returns the value of the only header with this name; null if there is none. @throws Error if there are two */
  header(name: string): string | null;
  readonly text: string;
  readonly html: string;
}

/** Reads an e-mail of two parts strictly. It uses no code of ours or of the library that sends the e-mail. */
export function readMail(raw: Buffer): ReadMail {
  const source = raw.toString("latin1");
  if (/[^\r]\n|\r[^\n]|^\n|\r$|[^\x09\x20-\x7e\r\n]/.test(source)) throw new Error("a byte that may not be");
  for (const line of source.split("\r\n"))
    if (line.length > 998) throw new Error(`a line of ${line.length} characters`);
  const { headers, body } = splitEntity(source);
  const header = (name: string): string | null => {
    const found = headers.filter(([each]) => each.toLowerCase() === name.toLowerCase());
    if (found.length > 1) throw new Error(`${found.length} headers ${name}`);
    return found[0]?.[1] ?? null;
  };
  const boundary = /^multipart\/alternative; boundary="([^"]+)"$/.exec(header("content-type") ?? "")?.[1];
  if (boundary === undefined) throw new Error("no boundary");
  const parts = `\r\n${body}`.split(`\r\n--${boundary}`);
  if (parts.length !== 4 || parts[0] !== "" || parts[3] !== "--\r\n") throw new Error("not two parts");
  return { headers, header, text: readPart(parts[1], "plain"), html: readPart(parts[2], "html") };
}

function splitEntity(source: string) {
  const end = source.indexOf("\r\n\r\n");
  const lines = source.slice(0, end).split(/\r\n(?![ \t])/);
  const headers = lines.map((line) => {
    const [, name, value] = /^([A-Za-z-]+): ([^]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`no header: ${line}`);
    return [name, decodeWords(value)] as const;
  });
  return { headers, body: source.slice(end + 4) };
}

function readPart(source = "", subtype: string): string {
  const { headers, body } = splitEntity(source.slice(2));
  expectHeader(headers, "Content-Type", `text/${subtype}; charset=utf-8`);
  expectHeader(headers, "Content-Transfer-Encoding", "quoted-printable");
  for (const line of body.split("\r\n"))
    if (line.length > 76 || /[ \t]$/.test(line)) throw new Error(`not quoted-printable: ${line}`);
  const bytes = body
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return new TextDecoder("utf-8", { fatal: true })
    .decode(Buffer.from(bytes, "latin1"))
    .replaceAll("\r\n", "\n");
}

function expectHeader(headers: readonly (readonly [string, string])[], name: string, value: string): void {
  if (!headers.some((each) => each[0] === name && each[1] === value)) throw new Error(`no ${name}: ${value}`);
}

function decodeWords(folded: string): string {
  return folded
    .replace(/\r\n/g, "")
    .replace(/\?= +=\?/g, "?==?")
    .replace(/=\?UTF-8\?B\?([A-Za-z0-9+/=]*)\?=/g, (word, base64: string) => {
      if (word.length > 75) throw new Error("an encoded word is too long");
      return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
    });
}
