import type { Lane } from "./lane.ts";
import type { Slots } from "./slots.ts";

/** Remembers which workspace got a slot longest ago. It is in memory, so a new process begins anew. */
export class WorkspaceOrder {
  readonly #last = new Map<string, number>();
  #number = 0;

  /** Notes that a workspace has begun an attempt. */
  note(workspaceId: string): void {
    this.#number += 1;
    this.#last.set(workspaceId, this.#number);
  }

  /** Forgets all workspaces but these. */
  keep(workspaceIds: ReadonlySet<string>): void {
    for (const id of this.#last.keys()) if (!workspaceIds.has(id)) this.#last.delete(id);
  }

  /**
   * Orders lanes by their workspace: first the workspace with the fewest attempts under way; among equals, the one that has waited longest.
   */
  inOrder(lanes: readonly Lane[], slots: Slots): Lane[] {
    const taken = ({ kindSlots }: Lane): number => slots.taken(kindSlots.own);
    const last = ({ workspaceId }: Lane): number => this.#last.get(workspaceId) ?? 0;
    return lanes.toSorted((one, other) => taken(one) - taken(other) || last(one) - last(other));
  }
}
