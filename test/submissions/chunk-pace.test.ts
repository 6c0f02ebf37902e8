import { describe, expect, test } from "vitest";
import { createChunkPace } from "../../src/submissions/commit/chunk-pace.ts";
import type { PendingSubmission } from "../../src/submissions/commit/batch.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const WITHOUT_FILES = [{ pending: { fileIds: null } as PendingSubmission }];
const WITH_FILES = [{ pending: { fileIds: ["fil_1"] } as unknown as PendingSubmission }];

function setUp(heldByStore: () => Promise<void> | null = () => null) {
  const clock = createFakeClock();
  return { clock, pace: createChunkPace(heldByStore, () => clock.now()) };
}

describe("a chunk of a file", () => {
  test("waits 16 ms after the last one while posts without files come", async () => {
    const { clock, pace } = setUp();
    pace.notePosts(WITHOUT_FILES);
    expect(pace.mayStore(0)).toBe(true);
    pace.noteChunk();
    expect(pace.mayStore(0)).toBe(false);
    await pace.held();
    clock.advance(15);
    expect(pace.mayStore(0)).toBe(false);
    clock.advance(1);
    expect(pace.mayStore(0)).toBe(true);
    expect(pace.held()).toBeNull();
  });

  test("waits for nobody if no post without files came for a second", () => {
    const { clock, pace } = setUp();
    pace.noteChunk();
    pace.notePosts(WITH_FILES);
    expect(pace.mayStore(0)).toBe(true);
    pace.notePosts(WITHOUT_FILES);
    clock.advance(999);
    pace.noteChunk();
    expect(pace.mayStore(0)).toBe(false);
    clock.advance(1);
    expect(pace.mayStore(0)).toBe(true);
  });

  test("lets posts with files go first that wait after a chunk, and follows them", () => {
    const { clock, pace } = setUp();
    pace.noteChunk();
    expect(pace.mayStore(1)).toBe(false);
    pace.notePosts(WITH_FILES);
    expect(pace.mayStore(0)).toBe(true);
    clock.advance(16);
    expect(pace.mayStore(1)).toBe(true);
  });

  test("waits for the log too, however long the last chunk is ago", () => {
    const held = Promise.resolve();
    const { pace } = setUp(() => held);
    expect(pace.mayStore(0)).toBe(false);
    expect(pace.held()).toBe(held);
  });
});
