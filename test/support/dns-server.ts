import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { Resolver } from "node:dns/promises";
import { onTestFinished } from "vitest";

/** The answer to a question for TXT or A records: the records, an error, or nothing at all. */
export type DnsAnswer = readonly string[] | "NXDOMAIN" | "SERVFAIL" | "silence";

const CODES = { SERVFAIL: 2, NXDOMAIN: 3 } as const;
const ADDRESS = 1;
const HEADER_BYTES = 12;
const MAX_PART_BYTES = 255;

export interface DnsServer {
  /** A resolver that asks only this server. */
  readonly resolver: Resolver;
  /** The names that were asked for. */
  readonly asked: readonly string[];
}

/** Starts a DNS server on loopback, until the test ends. It answers NXDOMAIN for a name that is not in `zone`. */
export async function startDnsServer(
  zone: Readonly<Partial<Record<string, DnsAnswer>>>,
  onQuestion: (resolver: Resolver) => void = () => {},
): Promise<DnsServer> {
  const asked: string[] = [];
  // The resolver waits long and tries once, so that it also accepts an answer that comes late on a busy machine.
  const resolver = new Resolver({ timeout: 60_000, tries: 1 });
  const socket = createSocket("udp4", (question: Buffer, { port, address }: RemoteInfo) => {
    const { name, end } = readName(question);
    asked.push(name);
    const answer = zone[name] ?? "NXDOMAIN";
    if (answer !== "silence") socket.send(reply(question.subarray(0, end), answer), port, address);
    onQuestion(resolver);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return { resolver, asked };
}

/** Reads the name, in lower case, and the position at which the question ends. */
function readName(question: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 5 };
}

/** Writes the reply. @param question the header and the one question of the request */
function reply(question: Buffer, answer: Exclude<DnsAnswer, "silence">): Buffer {
  const records = typeof answer === "string" ? [] : answer;
  const header = Buffer.from(question);
  header.writeUInt16BE(0x8180 + (typeof answer === "string" ? CODES[answer] : 0), 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  const type = question.readUInt16BE(question.length - 4);
  return Buffer.concat([header, ...records.map((text) => recordOf(type, text))]);
}

/** Writes a record. Its name is a pointer to the name in the question. */
function recordOf(type: number, text: string): Buffer {
  const data = type === ADDRESS ? Buffer.from(text.split(".").map(Number)) : partsOf(text);
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function partsOf(text: string): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < text.length; at += MAX_PART_BYTES) {
    const part = Buffer.from(text.slice(at, at + MAX_PART_BYTES), "latin1");
    parts.push(Buffer.from([part.length]), part);
  }
  return Buffer.concat(parts);
}
