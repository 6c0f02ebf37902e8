/**
 * Computes the proof of work that a server asks for, and returns the value of `_pow`; empty if it asks for none or cannot be asked. Without
 * `crypto.subtle`, as on a page without https, there is no proof.
 */
export async function prove(address: string): Promise<string> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(9000) });
    if (answer.status !== 200) return "";
    const { maxnumber, ...asked } = await answer.json();
    const encoder = new TextEncoder();
    for (let number = 0; number <= maxnumber; number += 1) {
      const hash = await crypto.subtle.digest("SHA-256", encoder.encode(asked.salt + number));
      const hex = new Uint8Array(hash).reduce(
        (digits, byte) => digits + (byte + 256).toString(16).slice(1),
        "",
      );
      if (hex === asked.challenge) return btoa(JSON.stringify({ ...asked, number }));
    }
  } catch {
    // The form is sent without a proof.
  }
  return "";
}
