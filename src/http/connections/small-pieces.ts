import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Our error code for a body that comes in too many pieces. */
export const SMALL_PIECES = "FORMSVC_SMALL_PIECES";

/** The number of pieces that any body may have, however small they are. */
const FREE_PIECES = 2048;
/** The least average size of the pieces beyond {@link FREE_PIECES}. The smallest packets of a network in use carry eight times as much. */
const MIN_PIECE_BYTES = 64;

/**
 * A request class for Node whose body is given up if it comes in too many pieces. A piece is a chunk of HTTP, or the content of one packet.
 * Each costs some 200 bytes of memory until the body is whole, however short it is: sixty posts of 60 KB in chunks of one byte took 1.5 GB.
 *
 * @param refuse called once for such a request; its further bytes are dropped
 */
export function boundPieces(refuse: (socket: Socket) => void): typeof IncomingMessage {
  return class extends IncomingMessage {
    #pieces = 0;
    #bytes = 0;
    #isGivenUp = false;

    override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      if (this.#isGivenUp) return true;
      if (piece !== null) {
        this.#pieces += 1;
        this.#bytes += piece.length;
        if (this.#pieces > FREE_PIECES + this.#bytes / MIN_PIECE_BYTES) {
          this.#isGivenUp = true;
          refuse(this.socket);
          return true;
        }
      }
      return super.push(piece, encoding);
    }
  };
}
