import { expect, test } from "vitest";
import { EICAR } from "../support/scripted-clamd.ts";
import { clamdRoot, startClamd } from "../support/real-clamd.ts";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, pdf, type PostedFacts, postFiles, storedFiles } from "../support/uploads.ts";

test.skipIf(clamdRoot === null)(
  "a real clamd finds a clean file clean, deletes one with a virus, and leaves one that is too large for it unscanned",
  async () => {
    const clamd = await startClamd(1_000_000);
    const server = await startServer({ files: { clamd: clamd.url } });
    const endpoint = await server.addEndpoint({ schema: applicationSchema });
    const authorization = `Bearer ${endpoint.secret}`;
    const judged = async (bytes: Buffer) => {
      const { id } = await postFiles(server, endpoint.secret, [
        ["name", "Ana"],
        ["cv", { name: "cv.pdf", bytes }],
      ]);
      return until(async () => {
        const path = `/submissions/${id}`;
        const answer = await server.request({ method: "GET", path, headers: { authorization } });
        const [file] = (answer.json as { data: { cv: PostedFacts[] } }).data.cv;
        return file?.state === "scanning" ? undefined : file;
      });
    };
    expect(await judged(pdf(700_000))).not.toHaveProperty("state");
    const infected = Buffer.concat([pdf(600_000, "b"), Buffer.from(EICAR)]);
    expect(await judged(infected)).toMatchObject({ state: "infected", verdict: "Eicar-Own.UNOFFICIAL" });
    expect(await judged(pdf(1_500_000, "c"))).toMatchObject({ state: "unscanned" });
    await until(() => storedFiles(server.owner).files.length === 2);
    expect(await clamd.clamd.version()).toMatch(/^ClamAV \d/);
  },
);
