import type { Lesson } from "../spam/lesson.ts";

/** A lesson with the submission whose mark it is. */
export interface KeptLesson extends Lesson {
  readonly submissionId: string;
}

interface Kept {
  readonly version: number;
  readonly lessons: readonly KeptLesson[];
}

/**
 * The lessons of workspaces as a transaction left them, so that the next one of the same work need not read them again: 2,000 of them take
 * as long to read as to learn. They hold as long as the weights that were learned of them have the same version.
 */
export class KeptLessons {
  readonly #kept = new Map<string, Kept>();
  readonly #draft = new Map<string, Kept>();

  /** Forgets what an attempt noted that was rolled back. */
  begin(): void {
    this.#draft.clear();
  }

  /** The lessons that belong to this version of the weights; undefined if they must be read. */
  find(workspaceId: string, version: number): readonly KeptLesson[] | undefined {
    const kept = this.#kept.get(workspaceId);
    return kept?.version === version ? kept.lessons : undefined;
  }

  note(workspaceId: string, kept: Kept): void {
    this.#draft.set(workspaceId, kept);
  }

  /** Call after the commit. Before it, another transaction may give the same version to other lessons. */
  accept(): void {
    for (const [workspaceId, kept] of this.#draft) this.#kept.set(workspaceId, kept);
    this.#draft.clear();
  }
}
