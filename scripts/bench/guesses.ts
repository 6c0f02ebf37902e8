import { crc32 } from "node:zlib";
import { makeKey } from "../../src/keys/key-format.ts";

/** Requests of clients that guess secrets, as a trusted proxy with https forwards them. */

/** Makes a sign-in request for the only account with a wrong password. */
export function guessPassword(client: string): string {
  const body = new URLSearchParams({ email: "owner@localhost", password: "not the password" }).toString();
  return `POST /dashboard/sign-in HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\nX-Forwarded-Proto: https\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Makes a well-formed wrong key that begins with the 12 public characters of another one. */
export function makeUpAround(key: string): string {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const body = key.slice(0, 16) + makeKey("publishable").text.slice(16, 48);
  const sum = crc32(body);
  const places = [5, 4, 3, 2, 1, 0].map((place) => digits.charAt(Math.floor(sum / 62 ** place) % 62));
  return body + places.join("");
}
