import { expect, test } from "vitest";
import { addSubmission } from "../support/add-submission.ts";
import { operatorMachine } from "../support/operator-machine.ts";

/** A machine with a form that has submissions, the oldest first. */
async function machineWith(count: number) {
  const machine = operatorMachine();
  const { id: endpointId } = await machine.createEndpoint();
  const db = machine.open();
  const ids = Array.from({ length: count }, (_, index) =>
    addSubmission(db, { endpointId, createdAt: Date.now() + index }),
  );
  const email = String(db.prepare("SELECT email FROM account").pluck().get());
  const list = async (...options: string[]): Promise<string[]> => {
    const { data } = await machine.json<{ data: { id: string }[] }>(["submission", "list", ...options]);
    return data.map(({ id }) => id).toReversed();
  };
  return { machine, ids, email, list };
}

test("submissions are set, noted, deleted and brought back by commands, and shown with it", async () => {
  const { machine, ids, email, list } = await machineWith(3);
  const [first = "", second = "", third = ""] = ids;
  expect(
    await machine.json(["submission", "set", first, second, "--state", "done", "--assignee", email]),
  ).toMatchObject({ set: [first, second], state: "done", assignee: { email } });
  await machine.mustRun(["submission", "set", second, "--assignee", "none"]);
  const noted = await machine.run(["submission", "note", first, "-", "--json"], { input: "from a pipe\n" });
  expect(noted.json()).toMatchObject({ note: { text: "from a pipe", by: null } });
  const shown = await machine.mustRun(["submission", "show", first]);
  for (const words of ["done", email, "command line: from a pipe"]) expect(shown.stdout).toContain(words);
  expect(await list("--state", "done")).toEqual([first, second]);
  expect(await list("--assignee", email)).toEqual([first]);
  expect(await list("--assignee", "none", "--state", "open")).toEqual([third]);
  expect((await machine.mustRun(["submission", "delete", first, "--yes"])).stderr).toBe(
    "deleted: 1 (for 30 days, submission undelete brings them back)\n",
  );
  expect([await list(), await list("--deleted")]).toEqual([[second, third], [first]]);
  expect((await machine.run(["submission", "show", first])).stderr).toContain("it is in the bin");
  expect(await machine.json(["submission", "show", first, "--deleted"])).toMatchObject({
    id: first,
    deleted_at: expect.any(String) as string,
  });
  await machine.mustRun(["submission", "undelete", first]);
  await machine.mustRun(["submission", "delete", first, "--now", "--yes"]);
  await machine.mustRun(["submission", "delete", second, "--yes"]);
  expect((await machine.run(["submission", "delete", second, "--now"])).stderr).toContain(
    `give --yes: Delete ${second} for good?`,
  );
  expect(await machine.json(["submission", "empty-bin", "--yes"])).toEqual({ deleted: 1 });
  expect([await list(), await list("--deleted")]).toEqual([[third], []]);
});

test("what is typed wrongly is refused with its reason, and changes nothing", async () => {
  const { machine, ids, list } = await machineWith(1);
  const [id = ""] = ids;
  const unknown = "sub_01h455vb4pex5vsknk084sn02q";
  const refused: [code: number, reason: string, args: string[]][] = [
    [2, "give --state, --assignee, or both", ["set", id]],
    [2, "--state", ["set", id, "--state", "shut"]],
    [2, "cleo@example.com does not see these submissions", ["set", id, "--assignee", "cleo@example.com"]],
    [3, "nothing was changed", ["set", id, unknown, "--state", "done"]],
    [2, "the note is empty", ["note", id, " "]],
    [2, "the note has 2001 characters", ["note", id, "x".repeat(2001)]],
    [3, "in the bin; nothing was changed", ["undelete", id]],
    [3, "nothing was deleted", ["delete", id, unknown, "--yes"]],
    [3, `there is no submission ${unknown}`, ["delete", id, unknown]],
    [3, `there is no submission ${unknown}`, ["delete", id, unknown, "--now"]],
    [3, "nowhere", ["empty-bin", "--endpoint", "nowhere"]],
    [2, "--yes", ["delete", id]],
    [2, "--yes", ["empty-bin"]],
    [3, "there is no account cleo@example.com", ["list", "--assignee", "cleo@example.com"]],
    [2, "--state", ["list", "--state", "shut"]],
  ];
  for (const [code, reason, args] of refused) {
    const ran = await machine.run(["submission", ...args]);
    expect([ran.code, ran.stderr], args.join(" ")).toEqual([code, expect.stringContaining(reason)]);
  }
  expect([await list("--state", "open"), await list("--deleted")]).toEqual([[id], []]);
});

test("without a bin a deletion is final, and what was in it goes within minutes of the server", async () => {
  const { machine, ids, list } = await machineWith(2);
  const [first = "", second = ""] = ids;
  await machine.mustRun(["submission", "delete", first, "--yes"]);
  machine.write("formsvc.config.json", JSON.stringify({ submissions: { binDays: 0 } }));
  expect((await machine.run(["submission", "delete", second])).stderr).toContain(
    `give --yes: Delete ${second} for good?`,
  );
  const deleted = await machine.mustRun(["submission", "delete", second, "--yes"]);
  expect([deleted.stderr, await list("--deleted")]).toEqual(["deleted: 1\n", [first]]);
  const refused = machine.write("wrong.json", JSON.stringify({ submissions: { binDays: -1 } }));
  expect((await machine.run(["submission", "list", "--config", refused])).code).toBe(2);
});
