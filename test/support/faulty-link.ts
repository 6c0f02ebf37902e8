import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { parseDatabaseAddress } from "../../src/database/postgresql/address.ts";

/** A network between a client and PostgreSQL, with the faults that networks have. */
export interface FaultyLink {
  /** On this machine's loopback address. */
  readonly port: number;
  /** Of the same database, through the link. */
  readonly address: string;
  /** New connections are made to the first host of this address. */
  redirect(to: string): void;
  /**
   * The next connection that sends this text is cut when the server has answered it: the server has done it, and the client
   * never hears.
   *
   * @param answer a part of the answer, if the client sends other statements together with it.
   */
  cutAnswerTo(text: string, answer?: string): void;
  /** The next connection that sends this text falls silent before the text has passed. Resolves when it has done so. */
  silenceAt(text: string): Promise<void>;
  /** From now on nothing passes. No connection is closed: neither end hears that the other one is away. */
  silence(): void;
  /** What was held back passes, and all that follows. */
  resume(): void;
  /** Breaks every connection. New ones are taken. */
  cut(): void;
  /** Each piece of data takes this much longer in each direction. */
  delay(ms: number): void;
}

/** What the link does to data at present. */
interface Faults {
  cutsAfter: { readonly text: string; readonly answer: string } | null;
  silencesAt: { readonly text: string; readonly done: () => void } | null;
  delayMs: number;
  /** Resolves when data may pass again; null if they may now. */
  resumed: PromiseWithResolvers<void> | null;
}

/** A link to the first host of a database's address; gone after the test. */
export async function startLink(to: string): Promise<FaultyLink> {
  const { user, password, database } = parseDatabaseAddress(to);
  let target = to;
  const faults: Faults = { cutsAfter: null, silencesAt: null, delayMs: 0, resumed: null };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connectTo(target);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => open.delete(socket));
    }
    passBoth(client, upstream, faults);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const resume = (): void => {
    faults.resumed?.resolve();
    faults.resumed = null;
  };
  onTestFinished(() => {
    cut();
    resume();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `postgresql://${user}:${encodeURIComponent(password ?? "")}@127.0.0.1:${port}/${database}`,
    port,
    redirect: (other) => void (target = other),
    cutAnswerTo: (text, answer = "") => void (faults.cutsAfter = { text, answer }),
    silenceAt: (text) =>
      new Promise((done) => {
        faults.silencesAt = { text, done };
      }),
    silence: () => void (faults.resumed ??= Promise.withResolvers()),
    resume,
    cut,
    delay: (ms) => void (faults.delayMs = ms),
  };
}

function connectTo(address: string): Socket {
  const { host = "", port = 0 } = parseDatabaseAddress(address).hosts[0] ?? {};
  return host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
}

function passBoth(client: Socket, upstream: Socket, faults: Faults): void {
  const own: { cutsAt: string | null; isSilent: boolean } = { cutsAt: null, isSilent: false };
  const notice = (data: Buffer): void => {
    if (faults.cutsAfter !== null && data.includes(faults.cutsAfter.text)) {
      own.cutsAt = faults.cutsAfter.answer;
      faults.cutsAfter = null;
    }
    if (faults.silencesAt !== null && data.includes(faults.silencesAt.text)) {
      own.isSilent = true;
      faults.silencesAt.done();
      faults.silencesAt = null;
    }
  };
  const pass = async (from: Socket, to: Socket): Promise<void> => {
    let isBroken = false;
    try {
      // Not destroyed when the loop is left: a silent connection stays open.
      for await (const data of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if (from === client) notice(data);
        isBroken = own.cutsAt !== null && from === upstream && data.includes(own.cutsAt);
        if (isBroken) break;
        if (faults.delayMs > 0) await sleep(faults.delayMs);
        await faults.resumed?.promise;
        if (own.isSilent) return;
        to.write(data);
      }
    } catch {
      isBroken = true;
    }
    await faults.resumed?.promise;
    if (own.isSilent) return;
    if (isBroken) to.destroy();
    else to.end();
  };
  void pass(client, upstream);
  void pass(upstream, client);
}
