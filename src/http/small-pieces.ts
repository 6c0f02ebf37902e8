import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Our code for a body that comes in too many pieces. */
export const SMALL_PIECES = "FORMSVC_SMALL_PIECES";

/** Pieces that any body may have, however small they are. */
const FREE_PIECES = 2048;
/** Of the pieces beyond those, on average. The smallest packets of a network in use carry eight times as much. */
const MIN_PIECE_BYTES = 64;

/**
 * A request of Node's whose body is given up when it comes in too many pieces. A piece is a chunk of HTTP, or what one packet brought. Each
 * costs some 200 bytes of memory until the body is whole, however few of its bytes it has: sixty posts of 60 KB in chunks of one byte held 1.5 GB.
 *
 * @param refuse called once for such a request, whose further bytes are dropped.
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
