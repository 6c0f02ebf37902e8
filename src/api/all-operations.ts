import { confirmRecipient, unsubscribeRecipient } from "../mail/recipients/follow-link.ts";
import { acceptInvitation, declineInvitation } from "../members/invitation-operations.ts";
import { leaveWorkspace } from "../members/member-operations.ts";
import type { AnyOperation } from "../operations/operation.ts";
import { unbindAccount } from "../sessions/oidc-operations.ts";
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from "../sessions/passkey-operations.ts";
import { removeOwnTotp, renewOwnCodes, setOwnPassword, setOwnTotp } from "../sessions/security-operations.ts";
import { endOwnSessions, giveSignInLink, resetTotp } from "../sessions/sign-in-operations.ts";
import { approveLogin, denyLogin } from "../tokens/login-operations.ts";
import { createToken, listAllTokens, revokeToken } from "../tokens/token-operations.ts";
import { ROUTES } from "./routes.ts";

/** Operations that are not offered over HTTP, each with its reason. */
export const LOCAL_OPERATIONS: readonly AnyOperation[] = [
  // Its link lets whoever has it act as somebody else.
  giveSignInLink,
  // It removes a second factor, and no program should.
  resetTotp,
  // It lets the next person with the address become the account.
  unbindAccount,
  // It is for people, who prove their present password.
  setOwnPassword,
  setOwnTotp,
  removeOwnTotp,
  renewOwnCodes,
  // It is for people, whose device is asked.
  beginPasskey,
  addPasskey,
  renamePasskey,
  removePasskey,
  // The invited person does it, signed in.
  acceptInvitation,
  declineInvitation,
  // People do it; an owner removes the account of a token.
  leaveWorkspace,
  // It is about the browser that asks.
  endOwnSessions,
  // It is done with the link of a letter.
  confirmRecipient,
  unsubscribeRecipient,
  // A person does it in the dashboard.
  approveLogin,
  denyLogin,
  // A token can make, see and revoke no token except itself.
  createToken,
  listAllTokens,
  revokeToken,
];

/** All operations, for everything that is made from the list: the table of access, and the tests of it. */
export const OPERATIONS: readonly AnyOperation[] = [
  ...ROUTES.map(({ operation }) => operation),
  ...LOCAL_OPERATIONS,
];
