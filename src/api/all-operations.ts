import { confirmRecipient, unsubscribeRecipient } from "../mail/follow-link.ts";
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

/** Operations that are not done over HTTP, with the reasons. */
export const LOCAL_OPERATIONS: readonly AnyOperation[] = [
  // Makes whoever has the link somebody else.
  giveSignInLink,
  // Takes a second factor away, and no program should.
  resetTotp,
  // Lets whoever comes next with its address be the account.
  unbindAccount,
  // For people, who prove their present password.
  setOwnPassword,
  setOwnTotp,
  removeOwnTotp,
  renewOwnCodes,
  // For people, whose device is asked.
  beginPasskey,
  addPasskey,
  renamePasskey,
  removePasskey,
  // Done by whoever is invited, who is signed in.
  acceptInvitation,
  declineInvitation,
  // Done by people; a token's account is removed by an owner.
  leaveWorkspace,
  // About the browser that asks.
  endOwnSessions,
  // Done with the link of a letter.
  confirmRecipient,
  unsubscribeRecipient,
  // Done by a person, in the dashboard.
  approveLogin,
  denyLogin,
  // A token makes, sees and revokes no tokens but itself.
  createToken,
  listAllTokens,
  revokeToken,
];

/** Everything that can be done, for what is made from the list: the table of access, and the tests of it. */
export const OPERATIONS: readonly AnyOperation[] = [
  ...ROUTES.map(({ operation }) => operation),
  ...LOCAL_OPERATIONS,
];
