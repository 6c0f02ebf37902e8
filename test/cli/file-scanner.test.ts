import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { scriptedClamd } from "../support/scripted-clamd.ts";

test("doctor asks the virus scanner for its version, and says what to do if it does not answer", async () => {
  const clamd = await scriptedClamd();
  const machine = operatorMachine();
  await machine.createEndpoint();
  expect((await machine.run(["doctor"])).stderr).toMatch(/files\.scanner +files are not scanned for viruses/);
  machine.configure({ files: { clamd: clamd.url } });
  expect((await machine.run(["doctor"])).stderr).toMatch(
    /files\.scanner +ClamAV 1\.4\.3\/27800\/Mon Nov 23 answers; no file waits for its verdict/,
  );
  await clamd.stop();
  const away = await machine.run(["doctor"]);
  expect(away.code).toBe(1);
  expect(away.stdout).toMatch(/PROBLEM +files\.scanner +the scanner is not reached: .*ECONNREFUSED/);
  expect(away.stdout).toContain("start clamd, or correct its address (files.clamd)");
});
