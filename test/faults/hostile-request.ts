type Random = () => number;

/** The keys of the endpoint under attack. */
export interface HostileKeys {
  readonly secret: string;
  readonly publishable: string;
}

/**
 * The bytes of one hostile connection, whatever a stranger may send: some requests that are read as such, and then one
 * that may not be.
 */
export function hostileBytes({ secret, publishable }: HostileKeys, random: Random): Buffer {
  const readable = Array.from({ length: Math.floor(random() * 8) }, () => {
    const kind = random();
    if (kind < 0.2) return hostileForm(publishable, random);
    return request(secret, kind < 0.6 ? hostileJson(random) : nearlyValid(random));
  });
  const last =
    random() < 0.2 ? mutate(hostileForm(publishable, random), random) : pick(random, MAKERS)(secret, random);
  return Buffer.concat([...readable, last]);
}

const MAKERS: readonly ((key: string, random: Random) => Buffer)[] = [
  (key, random) => request(key, hostileJson(random)),
  (key, random) => request(key, hostileJson(random)),
  (key, random) => request(key, Buffer.from(JSON.stringify({ n: random() })), hostileHeaders(random)),
  (key, random) => mutate(request(key, Buffer.from('{"n":1}'), hostileHeaders(random)), random),
  (key, random) => mutate(request(key, hostileJson(random)), random),
  (key, random) => truncate(request(key, hostileJson(random)), random),
  (key, random) => Buffer.concat(times(random, 8, () => request(key, hostileJson(random)))),
  (_key, random) => oddRequest(random),
  (key, random) => chunked(key, random),
  (key, random) => request(damageKey(key, random), Buffer.from('{"n":1}')),
  (_key, random) => randomBytes(random, 2000),
];

function request(key: string, body: Buffer, headers: readonly string[] = []): Buffer {
  const head = [
    "POST /submit HTTP/1.1",
    "Host: fuzz",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), body]);
}

const FORM_PIECES = [
  "n=1",
  "&",
  "=",
  "%",
  "%ff",
  "%00",
  "+",
  "n[n][n]=",
  "list[]=",
  "[[]]=",
  "then=a",
  "__proto__[n]=1",
  "_redirect=//x",
  "_gotcha=x",
  "deep[n]=",
  "é",
];
const PARTS = [
  '\r\nContent-Disposition: form-data; name="n"\r\n\r\n1\r\n',
  '\r\nContent-Disposition: form-data; name="list[]"\r\n\r\n\u0000\r\n',
  '\r\nContent-Disposition: form-data; name="n"; filename="../x"\r\nContent-Type: text/plain\r\n\r\na\r\n',
  "\r\nContent-Disposition: form-data\r\n\r\n\r\n",
  "\r\nContent-Disposition: form-data; name*=utf-8''%ff\r\nContent-Transfer-Encoding: base64\r\n\r\n=\r\n",
  `\r\n${"X-A: b\r\n".repeat(300)}\r\n`,
  "\r\n",
  "--",
  "",
];

/** A page's form as a stranger may send it, to the address that its page shows. */
function hostileForm(key: string, random: Random): Buffer {
  const isMultipart = random() < 0.5;
  const body = isMultipart
    ? times(random, 40, () => `--b${pick(random, PARTS)}`).join("") + pick(random, ["--b--\r\n", ""])
    : times(random, 60, () => pick(random, FORM_PIECES)).join("");
  const head = [
    `POST /f/${pick(random, [key, key, key, damageKey(key, random)])} HTTP/1.1`,
    "Host: fuzz",
    `Content-Type: ${isMultipart ? "multipart/form-data; boundary=b" : "application/x-www-form-urlencoded"}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}

const JSON_PIECES = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"',
  "null",
  "true",
  "-0",
  "1e999",
  "-1e-999",
  "0.1",
  "9".repeat(400),
  '"n"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"\\ud800"',
  '"\\u0000"',
  '"‮"',
  '"_gotcha"',
  '"_elapsed_ms"',
  '"hasOwnProperty"',
  '""',
  '"é"',
  '"🙂"',
  "﻿",
  "\\",
  "	",
  "\0",
  "NaN",
];
const NAMES = [
  "n",
  "__proto__",
  "constructor",
  "_gotcha",
  "_elapsed_ms",
  "",
  "n.n",
  "a\u0000b",
  "\ud800",
  "then",
  "toString",
  "to",
  "list",
  "deep",
];

function hostileJson(random: Random): Buffer {
  const kind = Math.floor(random() * 8);
  if (kind === 0) return Buffer.from(times(random, 60, () => pick(random, JSON_PIECES)).join(""));
  if (kind === 1) return Buffer.from('{"n":'.repeat(5000).slice(0, Math.floor(random() * 25_000)));
  if (kind === 2) return Buffer.from(`{"n":${"[".repeat(random() * 3000)}${"]".repeat(random() * 3000)}}`);
  if (kind === 3)
    return Buffer.from(`{"n":"${pick(random, UNITS).repeat(random() * 20_000)}"}`).subarray(0, 66_000);
  if (kind === 4) return Buffer.concat([Buffer.from('{"n":"'), randomBytes(random, 200), Buffer.from('"}')]);
  return Buffer.from(
    JSON.stringify(
      Object.fromEntries(times(random, 20, () => [pick(random, NAMES), hostileValue(random, 0)])),
    ),
  );
}

/** What the endpoint's schema asks for, with odd texts; most of these are scored and stored. */
function nearlyValid(random: Random): Buffer {
  const text = pick(random, UNITS).repeat(random() * 20);
  const fields = {
    n: Math.floor(random() * 1e9),
    to: random() < 0.9 ? "a@b.example" : text,
    text: times(random, 4, () => pick(random, UNITS).repeat(random() * 20)).join(" "),
    list: times(random, 5, () => random()),
    deep: { n: { n: random() < 0.9 } },
    [pick(random, NAMES)]: random() < 0.9 ? undefined : hostileValue(random, 0),
  };
  return Buffer.from(JSON.stringify(fields));
}

const UNITS = [
  "a",
  "http://a.b ",
  "<a href=",
  "\u200b",
  "A ",
  "\u0301",
  "🙂",
  "a@a.",
  "=",
  "%00",
  "$(",
  "' OR 1=1 --",
];

function hostileValue(random: Random, depth: number): unknown {
  const values: readonly (() => unknown)[] = [
    () => null,
    () => random() * 1e300,
    () => -0,
    () => true,
    () => pick(random, UNITS).repeat(random() * 50),
    () => "\ud83d",
    () => (depth > 4 ? [] : times(random, 5, () => hostileValue(random, depth + 1))),
    () => (depth > 4 ? {} : { [pick(random, NAMES)]: hostileValue(random, depth + 1) }),
  ];
  return pick(random, values)();
}

const HEADER_NAMES = [
  "Idempotency-Key",
  "Origin",
  "X-Submitter-IP",
  "X-Submitter-User-Agent",
  "X-Forwarded-For",
  "X-Request-Id",
  "Content-Type",
  "Content-Length",
  "Transfer-Encoding",
  "Expect",
  "Connection",
  "Host",
  "Cookie",
  "Upgrade",
  "Authorization",
  "User-Agent",
  "Accept-Language",
  "Sec-Fetch-Site",
  "Content-Encoding",
  "X-HTTP-Method-Override",
];
const HEADER_VALUES = [
  "",
  " ",
  "0",
  "-1",
  "1e9",
  "99999999999999999999",
  "chunked",
  "gzip, chunked",
  "100-continue",
  "close",
  "null",
  "application/json; charset=utf-16",
  "multipart/form-data; boundary=",
  "::1",
  "1.2.3.4, ::ffff:1.2.3.4",
  "éÿ",
  "a".repeat(300),
  "a".repeat(17e3),
  "\0",
  "a	b",
  "a\rb",
  "Bearer",
  "Bearer  ",
  "websocket",
  "https://x.example",
];

function hostileHeaders(random: Random): string[] {
  return times(random, 6, () => `${pick(random, HEADER_NAMES)}: ${pick(random, HEADER_VALUES)}`);
}

const METHODS = [
  "GET",
  "PUT",
  "DELETE",
  "OPTIONS",
  "HEAD",
  "TRACE",
  "CONNECT",
  "PATCH",
  "PRI",
  "post",
  "P\u0000ST",
  "",
];
const PATHS = [
  "/",
  "*",
  "/submit/",
  "/submit?x=%",
  "/%",
  "/%00",
  "/%c0%ae",
  "/../../etc/passwd",
  "//submit",
  "/readyz",
  "/metrics",
  "http://x/submit",
  "/f/",
  `/${"a".repeat(9e3)}`,
  "/submissions/%ff",
  "/openapi.json",
  "/é",
  "/submissions?cursor=%F0",
  "",
];
const VERSIONS = ["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/9.9", "HTTP/1.1 x", ""];

function oddRequest(random: Random): Buffer {
  const line = `${pick(random, METHODS)} ${pick(random, PATHS)} ${pick(random, VERSIONS)}`;
  return Buffer.from(`${[line, ...hostileHeaders(random)].join("\r\n")}\r\n\r\n`, "latin1");
}

const CHUNK_SIZES = [
  "7",
  "0",
  "-1",
  "ffffffffffffffff",
  "7;x=y",
  "g",
  "",
  "00000007",
  `7;${"x".repeat(20_000)}`,
];

function chunked(key: string, random: Random): Buffer {
  const head = `POST /submit HTTP/1.1\r\nHost: fuzz\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const chunks = times(random, 4, () => `${pick(random, CHUNK_SIZES)}\r\n{"n":1}\r\n`).join("");
  return Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`, "latin1");
}

function damageKey(key: string, random: Random): string {
  const at = Math.floor(random() * key.length);
  return pick(random, [
    key.slice(0, at),
    `${key}${key}`,
    key.slice(0, at) + "0" + key.slice(at + 1),
    "\u00e9",
    key.toUpperCase(),
  ]);
}

function mutate(bytes: Buffer, random: Random): Buffer {
  const mutated = Buffer.from(bytes);
  const changes = 1 + Math.floor(random() * 8);
  for (let change = 0; change < changes; change += 1) {
    mutated[Math.floor(random() * mutated.length)] = Math.floor(random() * 256);
  }
  return mutated;
}

function truncate(bytes: Buffer, random: Random): Buffer {
  return bytes.subarray(0, Math.floor(random() * bytes.length));
}

function randomBytes(random: Random, most: number): Buffer {
  return Buffer.from(times(random, most, () => Math.floor(random() * 256)));
}

function times<Item>(random: Random, most: number, make: () => Item): Item[] {
  return Array.from({ length: Math.floor(random() * most) + 1 }, make);
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
