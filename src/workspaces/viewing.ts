/**
 * Who asks, as far as it decides what there is to see: the workspaces of the account, or all of them. What belongs to another
 * workspace does not exist for them.
 */
export interface Viewing {
  readonly accountId: string;
  readonly isOperator: boolean;
}
