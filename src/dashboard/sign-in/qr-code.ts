import { encode } from "uqr";
import { html, type Html } from "../../foundation/html.ts";

/** The number of light modules around the code, which readers need to find it (ISO/IEC 18004). */
const BORDER = 4;
/** The edge length of one module, in pixels. */
const MODULE_PX = 4;

/** A text as a QR code, dark on light whatever the colours of the page are. @param label the text for people who do not see it */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: "M", border: BORDER });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  const edge = size * MODULE_PX;
  return html`<svg class="qr" role="img" aria-label="${label}" width="${edge}" height="${edge}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
    <rect width="${size}" height="${size}" fill="#fff" />
    <path fill="#000" d="${dark.join("")}" />
  </svg>`;
}
