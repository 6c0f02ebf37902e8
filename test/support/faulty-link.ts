import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { parseDatabaseAddress } from "../../src/database/postgresql/address.ts";

/** A network between a client and PostgreSQL, with the faults that networks have. */
export interface FaultyLink {
  /** The port of the link on the loopback address. */
  readonly port: number;
  /** The address of the same database through the link. */
  readonly address: string;
  /** From now on, new connections go to the first host of this address. */
  redirect(to: string): void;
  /**
   * Cuts the next connection that sends this text, after the server has answered it: the server has done the work, and the client never
   * learns it.
   * @param answer a part of the answer; give it if the client sends other statements together with the text
   */
  cutAnswerTo(text: string, answer?: string): void;
  /** Makes the next connection that sends this text silent, before the text has passed. Resolves when the connection is silent. */
  silenceAt(text: string): Promise<void>;
  /** From now on no data passes. No connection is closed, so neither end learns that it cannot reach the other. */
  silence(): void;
  /** Lets the data that was held back pass, and all later data. */
  resume(): void;
  /** Breaks every connection. New connections are accepted. */
  cut(): void;
  /** Delays each piece of data by this time, in each direction. */
  delay(ms: number): void;
}

/** What the link does to data at present. */
interface Faults {
  cutsAfter: { readonly text: string; readonly answer: string } | null;
  silencesAt: { readonly text: string; readonly done: () => void } | null;
  delayMs: number;
  /** Resolves when data may pass again; null if data may pass now. */
  resumed: PromiseWithResolvers<void> | null;
}

/** Starts a link to the first host of a database's address. The link ends after the test. */
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
      // The socket is not destroyed at the end of the loop, because a silent connection must stay open.
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
