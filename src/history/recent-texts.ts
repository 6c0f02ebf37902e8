import { HASH_BEGIN, mix, step } from "../spam/hashing.ts";
import { countOthers, type PostTrace, type Sender } from "../spam/post-trace.ts";
import { areAlike, SKETCH_VALUES } from "../spam/text-sketch.ts";

/**
 * Long texts of the last posts in this process's memory, whatever they say: a text with no evidence of spam is not worth a
 * place on the disk, but copies of it from others are a campaign all the same. A restart forgets them.
 */
export interface RecentTexts {
  /** Notes a post and returns how many other senders the same or nearly the same text had before. */
  note(workspaceId: string, trace: PostTrace): number;
}

/** Texts of all workspaces together, in half a megabyte. */
const MAX_TEXTS = 4096;
/** Senders remembered for one text; more would not change the result. */
const MAX_SENDERS = 4;
/** Cells that lead from a key to the last text that had it; texts are compared afterwards, so a cell may be wrong. */
const CELLS = 65_536;
const NOBODY = 0;

export function createRecentTexts(): RecentTexts {
  const cells = new Uint16Array(CELLS);
  const texts = createRing();
  return {
    note(workspaceId, { sketch, email, network }) {
      if (sketch === null || sketch.values.length === 0) return 0;
      const salt = hashOf(workspaceId);
      const sender = { email: idOf(email), network: idOf(network) };
      let slot = -1;
      for (const key of sketch.keys) {
        const candidate = cells[cellOf(key, salt)] ?? 0;
        if (texts.isCopy(candidate, workspaceId, sketch.values)) slot = candidate;
      }
      const others = slot === -1 ? 0 : countOthers(sender, texts.sendersOf(slot));
      if (slot === -1) slot = texts.add(workspaceId, sketch.values);
      for (const key of sketch.keys) cells[cellOf(key, salt)] = slot;
      texts.addSender(slot, sender);
      return others;
    },
  };
}

interface Ring {
  isCopy(slot: number, workspaceId: string, values: Readonly<Uint32Array>): boolean;
  sendersOf(slot: number): Sender<number>[];
  /** Replaces the oldest text and returns its place. */
  add(workspaceId: string, values: Readonly<Uint32Array>): number;
  /** Does nothing if the text has this sender or enough others. */
  addSender(slot: number, sender: Sender<number>): void;
}

/** Kept in arrays of numbers, so that the garbage collector has nothing to trace. */
function createRing(): Ring {
  const workspaces = Array.from({ length: MAX_TEXTS }, () => "");
  const sketches = new Uint32Array(MAX_TEXTS * SKETCH_VALUES);
  const emails = new Float64Array(MAX_TEXTS * MAX_SENDERS);
  const networks = new Float64Array(MAX_TEXTS * MAX_SENDERS);
  let oldest = 0;
  return {
    isCopy: (slot, workspaceId, values) =>
      workspaces[slot] === workspaceId && areAlike(values, sketches, slot * SKETCH_VALUES),
    sendersOf(slot) {
      const senders: Sender<number>[] = [];
      for (let at = slot * MAX_SENDERS; at < (slot + 1) * MAX_SENDERS; at += 1) {
        const sender = { email: known(emails[at]), network: known(networks[at]) };
        if (sender.email !== null || sender.network !== null) senders.push(sender);
      }
      return senders;
    },
    add(workspaceId, values) {
      const slot = oldest;
      oldest = (oldest + 1) % MAX_TEXTS;
      workspaces[slot] = workspaceId;
      sketches.set(values, slot * SKETCH_VALUES);
      emails.fill(NOBODY, slot * MAX_SENDERS, (slot + 1) * MAX_SENDERS);
      networks.fill(NOBODY, slot * MAX_SENDERS, (slot + 1) * MAX_SENDERS);
      return slot;
    },
    addSender(slot, { email, network }) {
      for (let at = slot * MAX_SENDERS; at < (slot + 1) * MAX_SENDERS; at += 1) {
        const isFree = emails[at] === NOBODY && networks[at] === NOBODY;
        if (!isFree && (emails[at] !== (email ?? NOBODY) || networks[at] !== (network ?? NOBODY))) continue;
        emails[at] = email ?? NOBODY;
        networks[at] = network ?? NOBODY;
        return;
      }
    },
  };
}

function known(id: number | undefined): number | null {
  return id === undefined || id === NOBODY ? null : id;
}

function cellOf(key: number, salt: number): number {
  return mix((key >>> 0) ^ salt) % CELLS;
}

/** 53 bits for a sender's name, never {@link NOBODY}; two that share one would count as the same sender. */
function idOf(name: string | null): number | null {
  return name === null ? null : 1 + hashOf(name) + (hashOf(name, 1) >>> 12) * 2 ** 32;
}

function hashOf(text: string, salt = 0): number {
  let hash = HASH_BEGIN ^ salt;
  for (let at = 0; at < text.length; at += 1) hash = step(hash, text.charCodeAt(at));
  return mix(hash);
}
