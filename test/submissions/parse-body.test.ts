import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { parseBody } from "../../src/submissions/receive/parse-body.ts";

function parse(text: string | Buffer): Record<string, unknown> {
  return parseBody(typeof text === "string" ? Buffer.from(text) : text);
}

function refusal(body: string | Buffer): FormsvcError {
  try {
    parse(body);
  } catch (error) {
    if (error instanceof FormsvcError) return error;
    throw error;
  }
  throw new Error("it was taken");
}

const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
const nestedArrays = (levels: number): string => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

describe("what is taken", () => {
  test.each([
    ["a leading byte order mark", '\uFEFF{"a":1}', { a: 1 }],
    ["blanks around the object", ' \t\r\n{"a":1}\n ', { a: 1 }],
    ["duplicate members, of which the last counts", '{"a":1,"b":2,"a":3}', { a: 3, b: 2 }],
    ["a lone high surrogate, mended", '{"a":"x\\ud800y"}', { a: "x\uFFFDy" }],
    ["a lone low surrogate, mended", '{"a":["\\udc00"]}', { a: ["\uFFFD"] }],
    ["a lone surrogate in a name, mended", '{"\\ud800":1}', { "\uFFFD": 1 }],
    [
      "names that are equal once they are mended, of which the last counts",
      '{"\\ud800":1,"\uFFFD":2}',
      { "\uFFFD": 2 },
    ],
    ["the same the other way round", '{"\uFFFD":1,"b":0,"\\ud800":2}', { "\uFFFD": 2, b: 0 }],
    ["two lone surrogates for names", '{"a":{"\\ud800":1,"\\udc00":2}}', { a: { "\uFFFD": 2 } }],
    ["a surrogate pair, left as it is", '{"a":"\\ud83d\\ude00"}', { a: "😀" }],
    ["a zero byte written as an escape", '{"a":"\\u0000"}', { a: "\0" }],
    [
      "names that objects have of themselves",
      '{"constructor":1,"toString":2,"hasOwnProperty":3}',
      { constructor: 1, toString: 2, hasOwnProperty: 3 },
    ],
    ["an empty name", '{"":1}', { "": 1 }],
    ["the largest double", '{"a":1.7976931348623157e308}', { a: Number.MAX_VALUE }],
    ["a number too small to tell from 0", '{"a":1e-400}', { a: 0 }],
    [
      "a whole number beyond 2^53, rounded as JavaScript does",
      '{"a":9007199254740993}',
      { a: 9_007_199_254_740_992 },
    ],
    ["minus zero", '{"a":-0}', { a: -0 }],
    ["an empty object", "{}", {}],
  ])("%s", (_, text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  test("members named __proto__ are dropped at every level and change no prototype", () => {
    const text =
      '{"__proto__":{"evil":1},"a":{"__proto__":{"evil":1},"b":[{"__proto__":1,"c":2}]},"\\u005f_proto__":3}';
    const body = parse(text);
    expect(body).toEqual({ a: { b: [{ c: 2 }] } });
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
    expect((body["a"] as Record<string, unknown>)["evil"]).toBeUndefined();
    expect(({} as Record<string, unknown>)["evil"]).toBeUndefined();
  });

  test("32 levels of objects or arrays, of which the body is the first, and not one more", () => {
    for (const make of [nested, nestedArrays]) {
      expect(() => parse(make(32))).not.toThrow();
      expect(refusal(make(33)).message).toContain("32 levels");
    }
  });
});

describe("what is refused", () => {
  test.each([
    ["nothing", "", /empty/],
    ["blanks only", " \n\t ", /empty/],
    ["an array", "[]", /not a JSON object/],
    ["null", "null", /not a JSON object/],
    ["a text", '"x"', /not a JSON object/],
    ["a number", "1", /not a JSON object/],
    ["two objects", "{}{}", /not JSON/],
    ["an object that breaks off", '{"a":', /not JSON/],
    ["a trailing comma", '{"a":1,}', /not JSON/],
    ["a comment", "{/**/}", /not JSON/],
    ["single quotes", "{'a':1}", /not JSON/],
    ["NaN", '{"a":NaN}', /not JSON/],
    ["a second byte order mark", "\uFEFF\uFEFF{}", /not JSON/],
    ["a raw zero byte", '{"a":"\0"}', /not JSON/],
    ["a no-break space outside of text", "\u00a0{}", /not JSON/],
    ["a number beyond a double's range", '{"a":[{"b":1e400}]}', /number beyond/],
    ["a negative one", '{"a":-1e400}', /number beyond/],
    ["one in a member that is dropped", '{"__proto__":{"a":1e400},"a":1}', /number beyond/],
    ["too many levels in a member that is dropped", `{"__proto__":${nested(32)},"a":1}`, /32 levels/],
    ["a hundred thousand levels", "[".repeat(100_000), /not JSON/],
    ["as many that are closed", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, /levels/],
  ])("%s", (_, text, message) => {
    const error = refusal(text);
    expect(error.code).toBe("invalid_json");
    expect(error.message).toMatch(message);
  });

  test.each([
    ["Latin-1", Buffer.from('{"a":"ü"}', "latin1")],
    ["UTF-16", Buffer.from('\uFEFF{"a":1}', "utf16le")],
    ["a surrogate in UTF-8's own bytes", Buffer.from([0x7b, 0xed, 0xa0, 0x80, 0x7d])],
    ["an overlong form", Buffer.from([0x7b, 0xc0, 0xaf, 0x7d])],
  ])("%s", (_, bytes) => {
    expect(refusal(bytes).message).toContain("UTF-8");
  });

  test("without repeating anything of the body", () => {
    expect(refusal('{"password":"hunter2" oops').message).not.toMatch(/hunter|oops/);
  });
});

test("any JSON object comes back as JavaScript reads it, without __proto__ and lone surrogates", () => {
  const json = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" });
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), json), (value) => {
      const text = JSON.stringify(value);
      const expected: unknown = JSON.parse(text);
      const result = parse(text);
      expect(JSON.stringify(result)).not.toMatch(/\\ud[89a-f]/);
      expect(Object.keys(result)).not.toContain("__proto__");
      if (!text.includes("\\u") && !text.includes("__proto__")) expect(result).toEqual(expected);
    }),
  );
});

test("any bytes at all are taken or refused as invalid JSON, never anything else", () => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  const almost = fc.tuple(fc.json(), fc.nat(), fc.integer({ min: 0, max: 255 })).map(([text, at, byte]) => {
    const buffer = Buffer.from(text);
    if (buffer.length > 0) buffer[at % buffer.length] = byte;
    return new Uint8Array(buffer);
  });
  fc.assert(
    fc.property(fc.oneof(bytes, almost), (body) => {
      try {
        parseBody(body);
      } catch (error) {
        expect(error).toBeInstanceOf(FormsvcError);
        expect((error as FormsvcError).code).toBe("invalid_json");
      }
    }),
    { numRuns: 2000 },
  );
});
