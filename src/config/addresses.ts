import { z } from "zod";
import { isNetwork } from "../foundation/ip-address.ts";
import { isListenAddress } from "../foundation/listen-address.ts";

export const httpUrl = z.url({ protocol: /^https?$/, error: "expected an http or https address" });
/** An address that paths are added to, so it has no slash at its end. */
export const baseUrl = httpUrl.refine((text) => !text.endsWith("/"), "expected no slash at the end");
export const network = z.string().refine(isNetwork, "expected an IP address or CIDR, like 10.0.0.0/8");
export const listenAddress = z
  .string()
  .refine(isListenAddress, 'expected an address with a port, like "127.0.0.1:8788" or "[::1]:8788"');
