import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { classify } from "../../src/webhooks/classify.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import {
  createHttpSender,
  type HttpSender,
  type SendResult,
  destinationOf,
} from "../../src/webhooks/send.ts";
import { findClosedPort, startRawReceiver, startReceiverWith } from "../support/receivers.ts";

const TIMEOUT_MS = 1500;
/** When a busy machine has ended an attempt at the latest; what a peer does here would go on for ever. */
const ENDED_MS = 15 * TIMEOUT_MS;
const LOOPBACK = parseAllowedNetworks(["127.0.0.1"]);
const BODY = Buffer.from('{"event":"submission.created","text":"grüße"}');
const senders: HttpSender[] = [];

afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.destroy()));
});

function newSender(timeoutMs = TIMEOUT_MS): HttpSender {
  const sender = createHttpSender({ allowed: LOOPBACK, timeoutMs, resolveHost: createHostResolver() });
  senders.push(sender);
  return sender;
}

function send(url: string, sender = newSender(), headers = {}): Promise<SendResult> {
  return sender.send({ destination: destinationOf(url), headers, body: BODY, allowPrivate: false });
}

function outcomeOf(result: SendResult): string {
  return classify(result).outcome;
}

test("a delivery is a POST over HTTP/1.1 with the headers given and the body byte for byte", async () => {
  await using receiver = await startReceiverWith((response) => response.writeHead(204).end());
  const result = await send(`${receiver.url}?a=b`, newSender(), { "webhook-id": "msg_1", "x-team": "sales" });
  expect(classify(result)).toMatchObject({ outcome: "delivered", blame: "nobody" });
  const [message] = receiver.received;
  expect(message).toMatchObject({ method: "POST", path: "/hook?a=b", body: BODY });
  expect(message?.headers).toMatchObject({ "webhook-id": "msg_1", "x-team": "sales" });
  expect(message?.headers["content-length"]).toBe(String(BODY.length));
});

test("connections are kept and used again", async () => {
  await using receiver = await startReceiverWith((response) => response.end("ok"));
  const sender = newSender();
  for (let index = 0; index < 10; index += 1)
    expect(outcomeOf(await send(receiver.url, sender))).toBe("delivered");
  expect(receiver.connections.count).toBeLessThanOrEqual(2);
});

test("a sender that was ended sends nothing more, not even if the end comes before or while its first connection opens", async () => {
  await using receiver = await startReceiverWith((response) => response.end("ok"));
  const [unused, opening, used] = [newSender(), newSender(), newSender()];
  await unused.destroy();
  const begun = send(receiver.url, opening);
  await opening.destroy();
  await send(receiver.url, used);
  await used.destroy();
  const results = [await begun];
  for (const sender of [unused, opening, used]) results.push(await send(receiver.url, sender));
  for (const result of results) expect(result).toMatchObject({ kind: "error", code: "UND_ERR_DESTROYED" });
  expect(receiver.received).toHaveLength(1);
});

test("redirects are not followed, and the verdict names the place they point to", async () => {
  await using target = await startReceiverWith((response) => response.end());
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of [target.url, "http://169.254.169.254/latest/meta-data"]) {
      await using receiver = await startReceiverWith((response) =>
        response.writeHead(status, { location }).end(),
      );
      const verdict = classify(await send(receiver.url));
      expect(verdict).toMatchObject({ outcome: "redirect", blame: "recipient" });
      expect(verdict.message).toContain(location);
    }
  }
  expect(target.connections.count).toBe(0);
});

test("statuses are judged: delivered, the receiver's trouble, or gone", async () => {
  const cases: [status: number, outcome: string, blame: string][] = [
    [200, "delivered", "nobody"],
    [299, "delivered", "nobody"],
    [400, "refused_by_receiver", "recipient"],
    [404, "refused_by_receiver", "recipient"],
    [408, "refused_by_receiver", "recipient"],
    [410, "gone", "recipient"],
    [425, "refused_by_receiver", "recipient"],
    [429, "refused_by_receiver", "recipient"],
    [500, "refused_by_receiver", "recipient"],
    [503, "refused_by_receiver", "recipient"],
    [599, "refused_by_receiver", "recipient"],
  ];
  const sender = newSender();
  for (const [status, outcome, blame] of cases) {
    await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
    expect(classify(await send(receiver.url, sender)), String(status)).toMatchObject({ outcome, blame });
  }
});

test("a failure's Retry-After and the first KiB of its body are kept, a success's body is not", async () => {
  await using busy = await startReceiverWith((response) => {
    response.writeHead(503, { "retry-after": "120" }).end("x".repeat(3000));
  });
  expect(await send(busy.url)).toMatchObject({ status: 503, retryAfter: "120", bodyStart: "x".repeat(1024) });
  await using fine = await startReceiverWith((response) => response.end("secret"));
  expect(await send(fine.url)).toMatchObject({ status: 200, bodyStart: "" });
});

test("a receiver that answers slowly in any way is given up at the deadline", async () => {
  const header = "HTTP/1.1 200 OK\r\n";
  const drip = (socket: Socket, first: string, next: string): void => {
    socket.write(first);
    const timer = setInterval(() => socket.write(next), 50);
    socket.on("close", () => clearInterval(timer));
  };
  const ways: [name: string, onSocket: (socket: Socket) => void][] = [
    ["silence", () => undefined],
    ["headers in drips", (socket) => drip(socket, header, "x-a: b\r\n")],
    ["endless 100", (socket) => drip(socket, "", CONTINUE)],
    ["endless 103", (socket) => drip(socket, "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")],
  ];
  await Promise.all(
    ways.map(async ([name, onSocket]) => {
      await using receiver = await startRawReceiver(
        (socket) => void socket.once("data", () => onSocket(socket)),
      );
      const result = await send(receiver.url);
      expect(outcomeOf(result), name).toBe("timeout");
      // A timer may fire a millisecond early.
      expect(result.durationMs, name).toBeGreaterThan(TIMEOUT_MS - 10);
      expect(result.durationMs, name).toBeLessThan(ENDED_MS);
    }),
  );
});

/** Answers each request on a connection with the parts, one packet after the other. */
function inParts(parts: readonly string[]): (socket: Socket) => void {
  return (socket) => {
    const answer = async (): Promise<void> => {
      for (const part of parts) {
        socket.write(part);
        await setTimeout(5);
      }
    };
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      if (chunk.subarray(-BODY.length).equals(BODY)) void answer();
    });
  };
}

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

test.each([
  ["before the answer", [CONTINUE, OK]],
  ["in one packet with the answer", [CONTINUE + OK]],
  ["split anywhere", [...Array.from("HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n"), OK]],
  ["twice, and among others", [CONTINUE, "HTTP/1.1 102 Processing\r\n\r\n", CONTINUE + CONTINUE, OK]],
  ["with the shortest of lines", ["HTTP/1.1 100 \r\n\r\n", OK]],
])("100 Continue that nobody asked for changes nothing: %s", async (_, parts) => {
  await using receiver = await startRawReceiver(inParts(parts));
  const sender = newSender();
  for (let message = 0; message < 3; message += 1) {
    const result = await send(receiver.url, sender);
    expect(result).toMatchObject({ kind: "answer", status: 200 });
  }
  expect(receiver.connections.count).toBeLessThan(3);
});

test("a failure's body that looks like 100 Continue is kept as it is", async () => {
  const body = `${CONTINUE}${CONTINUE}`;
  const answer = `HTTP/1.1 500 No\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  await using receiver = await startRawReceiver(inParts([CONTINUE, answer]));
  expect(await send(receiver.url)).toMatchObject({ status: 500, bodyStart: body });
});

test.each(["100 Continue", "103 Early Hints"])("a flood of %s ends early", async (status) => {
  let sent = 0;
  await using receiver = await startRawReceiver((socket) => {
    const pump = (): void => {
      while (!socket.destroyed && socket.write(`HTTP/1.1 ${status}\r\n\r\n`)) sent += 1;
    };
    socket.once("data", pump).on("drain", pump);
  });
  const result = await send(receiver.url, newSender(30_000));
  expect(classify(result)).toMatchObject({ outcome: "bad_answer", blame: "recipient" });
  expect(sent).toBeGreaterThan(256);
});

test("an attempt that was given up closes its connection", async () => {
  const closed = Promise.withResolvers<void>();
  await using receiver = await startRawReceiver((socket) => {
    socket.resume().on("close", () => closed.resolve());
  });
  expect(outcomeOf(await send(receiver.url, newSender(200)))).toBe("timeout");
  await closed.promise;
});

test("TLS that is never answered ends at the deadline too", async () => {
  await using receiver = await startRawReceiver(() => undefined);
  const result = await send(receiver.url.replace("http:", "https:"));
  expect(outcomeOf(result)).toBe("timeout");
  expect(result.durationMs).toBeLessThan(ENDED_MS);
});

test("after a 2xx the body changes nothing: dripping, endless, cut short or broken", async () => {
  const bodies: [name: string, write: (socket: Socket) => void][] = [
    ["drips", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx")],
    ["cut short", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx")],
    ["bad chunks", (socket) => socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n")],
    [
      "reset",
      (socket) =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", () => socket.resetAndDestroy()),
    ],
  ];
  for (const [name, write] of bodies) {
    await using receiver = await startRawReceiver((socket) => void socket.once("data", () => write(socket)));
    const result = await send(receiver.url);
    expect(outcomeOf(result), name).toBe("delivered");
    expect(result.durationMs, name).toBeLessThan(TIMEOUT_MS);
  }
});

test("of a body without end a few kilobytes are read, as an answer's and as a failure's", async () => {
  for (const status of [200, 500]) {
    let written = 0;
    await using receiver = await startReceiverWith((response) => {
      response.writeHead(status, { "content-encoding": "gzip" });
      const block = Buffer.alloc(65_536, 120);
      const pump = (): void => {
        while (!response.destroyed && response.write(block)) written += block.length;
      };
      response.on("drain", pump);
      pump();
    });
    const result = await send(receiver.url);
    expect(result).toMatchObject({ kind: "answer", status });
    // What the kernel's own buffers took is out of anybody's hands.
    expect(written).toBeLessThan(32 * 1024 * 1024);
  }
});

test("answers that are not HTTP, too large or of another protocol are failures of the receiver", async () => {
  const answers: [answer: string, outcome: string][] = [
    ["garbage\r\n\r\n", "bad_answer"],
    ["SSH-2.0-OpenSSH_9.6\r\n", "bad_answer"],
    [`HTTP/1.1 200 OK\r\nx-a: ${"y".repeat(100_000)}\r\n\r\n`, "bad_answer"],
    ["HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n", "connection_lost"],
  ];
  for (const [answer, outcome] of answers) {
    await using receiver = await startRawReceiver(
      (socket) => void socket.once("data", () => socket.write(answer)),
    );
    const verdict = classify(await send(receiver.url));
    expect(verdict, answer.slice(0, 40)).toMatchObject({ outcome, blame: "recipient" });
  }
});

test("a closed port, a dropped connection and a name that does not exist are told apart", async () => {
  expect(outcomeOf(await send(`http://127.0.0.1:${await findClosedPort()}/`))).toBe("connection_refused");
  await using dropping = await startRawReceiver(
    (socket) => void socket.once("data", () => socket.resetAndDestroy()),
  );
  expect(outcomeOf(await send(dropping.url))).toBe("connection_lost");
  const unknown = await send("http://receiver.invalid/", newSender(10_000));
  expect(["name_not_found", "name_lookup_failed"]).toContain(outcomeOf(unknown));
});

test("a kept connection that was closed meanwhile costs one free retry over a new one", async () => {
  let connections = 0;
  let requests = 0;
  await using receiver = await startRawReceiver((socket) => {
    connections += 1;
    let requestsHere = 0;
    socket.on("data", () => {
      requests += 1;
      requestsHere += 1;
      if (requestsHere === 1) socket.write("HTTP/1.1 204 No Content\r\n\r\n");
      else socket.resetAndDestroy();
    });
  });
  const sender = newSender();
  expect(outcomeOf(await send(receiver.url, sender))).toBe("delivered");
  await setTimeout(50);
  expect(outcomeOf(await send(receiver.url, sender))).toBe("delivered");
  expect(connections).toBe(2);
  expect(requests).toBe(3);
});

test("a new connection that is dropped is not tried again within the attempt", async () => {
  await using receiver = await startRawReceiver(
    (socket) => void socket.once("data", () => socket.resetAndDestroy()),
  );
  expect(outcomeOf(await send(receiver.url))).toBe("connection_lost");
  expect(receiver.connections.count).toBe(1);
});

test("many attempts at once, failing and not, leave no timer and no connection behind", async () => {
  // Other files of these tests run in this process too.
  const before = countSockets();
  await using slow = await startReceiverWith(() => undefined);
  await using fast = await startReceiverWith((response) => response.end("ok"));
  // Only those that nobody answers meet their deadline, however busy this machine is.
  const [hasty, patient] = [newSender(300), newSender(60_000)];
  const closedPort = await findClosedPort();
  const results = await Promise.all(
    Array.from({ length: 20 }, () => [
      send(slow.url, hasty),
      send(fast.url, patient),
      send(`http://127.0.0.1:${closedPort}/`, patient),
    ]).flat(),
  );
  const counts = Object.groupBy(results, outcomeOf);
  expect(counts["timeout"]).toHaveLength(20);
  expect(counts["delivered"]).toHaveLength(20);
  expect(counts["connection_refused"]).toHaveLength(20);
  await Promise.all([hasty.destroy(), patient.destroy()]);
  await expect.poll(() => [slow.connections.open, fast.connections.open]).toEqual([0, 0]);
  await expect.poll(countSockets).toBeLessThanOrEqual(before);
});

function countSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
}

test("attempts in flight when the sender is destroyed end at once as interrupted", async () => {
  await using receiver = await startReceiverWith(() => undefined);
  const sender = newSender(10_000);
  const pending = send(receiver.url, sender);
  await expect.poll(() => receiver.received.length).toBe(1);
  await sender.destroy();
  expect(classify(await pending)).toMatchObject({ outcome: "interrupted", blame: "own" });
});

test("an early answer to a large body counts", async () => {
  await using receiver = await startRawReceiver((socket) => {
    socket.once("data", () =>
      socket.end("HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    );
    void once(socket, "close");
  });
  const body = Buffer.alloc(8 * 1024 * 1024, 97);
  const result = await newSender(5000).send({
    destination: destinationOf(receiver.url),
    headers: {},
    body,
    allowPrivate: false,
  });
  expect(["refused_by_receiver", "connection_lost"]).toContain(outcomeOf(result));
});
