import { NO_ANSWER } from "./typed-form.ts";

/*
 * Asks the device for a passkey. A page names the address of the question in `data-passkey`, or contains the question in
 * `data-new-passkey`. The form around it sends the answer.
 */

/** WebAuthn's options as JSON, with base64url in place of bytes. */
interface Asked {
  readonly challenge: string;
}

/** The options for a new passkey. */
interface AskedNew extends Asked {
  readonly rp: PublicKeyCredentialRpEntity;
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly pubKeyCredParams: PublicKeyCredentialParameters[];
  readonly excludeCredentials: readonly { readonly type: "public-key"; readonly id: string }[];
}

const CANCELLED = "Nothing came from the device: cancelled, too late, or no passkey for this site.";
const KNOWN = "This device has a passkey already.";
const ELSEWHERE = "Passkeys do not work here. Open the page by its host name.";

export function offerPasskeys(): void {
  for (const section of document.querySelectorAll<HTMLElement>("[data-passkey], [data-new-passkey]")) {
    // True in an old browser, and on a page over plain http.
    if (!("PublicKeyCredential" in globalThis)) section.hidden = true;
    else section.querySelector("button")?.addEventListener("click", () => void press(section));
  }
}

async function press(section: HTMLElement): Promise<void> {
  const form = section.closest("form");
  const button = section.querySelector("button");
  const field = section.querySelector<HTMLInputElement>("input[name=passkey]");
  if (form === null || button === null || field === null || !form.reportValidity()) return;
  button.disabled = true;
  say(section, "");
  try {
    field.value = JSON.stringify(await answerOf(section));
    form.requestSubmit();
  } catch (error) {
    say(section, sentenceOf(error));
  } finally {
    button.disabled = false;
  }
}

async function answerOf(section: HTMLElement): Promise<unknown> {
  const made = section.dataset["newPasskey"];
  if (made !== undefined) return create(JSON.parse(made) as AskedNew);
  const body = new URLSearchParams({ use: section.dataset["use"] ?? "" });
  const answer = await fetch(section.dataset["passkey"] ?? "", { method: "POST", body });
  if (!answer.ok) throw new TypeError(NO_ANSWER);
  return get((await answer.json()) as Asked);
}

async function create(asked: AskedNew): Promise<unknown> {
  const credential = await navigator.credentials.create({
    publicKey: {
      ...asked,
      challenge: bytes(asked.challenge),
      user: { ...asked.user, id: bytes(asked.user.id) },
      excludeCredentials: asked.excludeCredentials.map((known) => ({ ...known, id: bytes(known.id) })),
    },
  });
  const { rawId, response } = credential as PublicKeyCredential;
  const { clientDataJSON, attestationObject } = response as AuthenticatorAttestationResponse;
  return {
    id: text(rawId),
    response: { clientDataJSON: text(clientDataJSON), attestationObject: text(attestationObject) },
  };
}

async function get(asked: Asked): Promise<unknown> {
  const credential = await navigator.credentials.get({
    publicKey: { ...asked, challenge: bytes(asked.challenge) },
  });
  const { rawId, response } = credential as PublicKeyCredential & {
    response: AuthenticatorAssertionResponse;
  };
  return {
    id: text(rawId),
    response: {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      ...(response.userHandle !== null && { userHandle: text(response.userHandle) }),
    },
  };
}

function sentenceOf(error: unknown): string {
  const name = error instanceof Error ? error.name : "";
  if (name === "InvalidStateError") return KNOWN;
  if (name === "SecurityError") return ELSEWHERE;
  return name === "TypeError" ? NO_ANSWER : CANCELLED;
}

function say(section: HTMLElement, sentence: string): void {
  const line = section.querySelector<HTMLElement>("[role=alert]");
  if (line === null) return;
  line.textContent = sentence;
  line.hidden = sentence === "";
}

function bytes(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

function text(buffer: ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
