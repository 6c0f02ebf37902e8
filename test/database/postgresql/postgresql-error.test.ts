import { DatabaseError } from "pg";
import { expect, test } from "vitest";
import {
  isConflict,
  isConnectionLost,
  isOfEncryption,
  isReadOnly,
  translatePostgresqlError,
} from "../../../src/database/postgresql/postgresql-error.ts";
import { FormsvcError } from "../../../src/foundation/errors.ts";

function ofServer(code: string): DatabaseError {
  const error = new DatabaseError("said with hunter2", 1, "error");
  error.code = code;
  return error;
}

function ofNetwork(code: string): Error {
  return Object.assign(new Error("hunter2"), { code });
}

test.each([
  [ofServer("28P01"), "does not let this user in"],
  [ofServer("3D000"), "there is no such database"],
  [ofServer("53100"), "disk is full"],
  [ofServer("53300"), "takes no more connections"],
  [ofServer("57P03"), "starting or stopping"],
  [ofServer("25006"), "a standby by now"],
  [ofServer("XX001"), "reports damage"],
  [ofNetwork("ECONNREFUSED"), "nothing listens there"],
  [ofNetwork("ENOTFOUND"), "there is no host with this name"],
  [ofNetwork("EAI_AGAIN"), "cannot be looked up"],
  [ofNetwork("ERR_TLS_CERT_ALTNAME_INVALID"), "certificate is for another host"],
  [ofNetwork("CERT_HAS_EXPIRED"), "has expired; renew it"],
  [ofNetwork("CERT_NOT_YET_VALID"), "correct the clocks"],
  [ofNetwork("CERT_REVOKED"), "is not valid; issue a new one"],
  [ofNetwork("SELF_SIGNED_CERT_IN_CHAIN"), "name the authority's file with sslrootcert=…"],
  [ofNetwork("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), "name the authority's file with sslrootcert=…"],
  [ofNetwork("ERR_SSL_UNSUPPORTED_PROTOCOL"), "ssl_min_protocol_version"],
  [new Error("Connection terminated unexpectedly"), "the connection broke"],
  [new Error("timeout exceeded when trying to connect"), "not made in time"],
])("%o becomes a sentence that says what to check, and repeats nothing of the cause", (error, message) => {
  const translated = translatePostgresqlError(error, "postgresql://ana@db/forms");
  expect(translated).toBeInstanceOf(FormsvcError);
  expect(translated).toMatchObject({ code: "database_unusable", facts: { cause: error } });
  expect((translated as Error).message).toMatch(/^postgresql:\/\/ana@db\/forms: /);
  expect((translated as Error).message).toContain(message);
  expect((translated as Error).message).not.toContain("hunter2");
});

test("a conflict is busy; a defect of a statement and an error of ours stay what they are", () => {
  for (const code of ["40001", "40P01"]) {
    expect(isConflict(ofServer(code))).toBe(true);
    expect(translatePostgresqlError(ofServer(code), "db")).toMatchObject({ code: "database_busy" });
  }
  const own = new FormsvcError("not_found");
  for (const error of [ofServer("42601"), new TypeError("x"), own])
    expect(translatePostgresqlError(error, "db")).toBe(error);
});

test("what is wrong with the encryption stays wrong; a connection that broke does not", () => {
  const wrong = [ofNetwork("CERT_HAS_EXPIRED"), new Error("The server does not support SSL connections")];
  for (const error of wrong)
    expect([error, translatePostgresqlError(error, "db")].map(isOfEncryption)).toEqual([true, true]);
  const others = [ofNetwork("ECONNRESET"), ofServer("57P01"), new Error("a defect"), null];
  expect(others.map(isOfEncryption)).toEqual([false, false, false, false]);
});

test("a connection is lost when the network or the server ends it, and by nothing else", () => {
  const lost = [
    ofServer("57P01"),
    ofServer("08006"),
    ofNetwork("ECONNRESET"),
    new Error("Connection terminated"),
  ];
  const kept = [ofServer("23505"), ofServer("40001"), new FormsvcError("failed"), new Error("a defect")];
  expect(lost.map(isConnectionLost)).toEqual([true, true, true, true]);
  expect(kept.map(isConnectionLost)).toEqual([false, false, false, false]);
  expect([isReadOnly(ofServer("25006")), isReadOnly(ofServer("25001"))]).toEqual([true, false]);
});
