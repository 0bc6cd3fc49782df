/**
 * The changes that calls in flight announced, for the permission questions about them: only these may be asked about, and
 * a change may be a whole file.
 */
import type { FileChange, FileDiff } from "./events.ts";

/** Of all calls together; the oldest calls are forgotten first. */
const MAX_CHARS = 4 * 1024 * 1024;
const MAX_FILES_PER_CALL = 1000;

export class KeptDiffs {
  /** By call and path. */
  readonly #calls = new Map<string, Map<string, FileChange>>();
  #chars = 0;

  /** Takes in what a call in flight says; a later change of the same file replaces the earlier one. */
  add(toolCallId: string, diffs: readonly FileDiff[]): void {
    if (diffs.length === 0) return;
    const changes = this.#calls.get(toolCallId) ?? new Map<string, FileChange>();
    this.#calls.set(toolCallId, changes);
    for (const { path, change } of diffs) {
      const before = changes.get(path);
      if (before === undefined && changes.size >= MAX_FILES_PER_CALL) continue;
      changes.set(path, change);
      this.#chars += charsOf(path, change) - (before === undefined ? 0 : charsOf(path, before));
    }
    for (const oldest of this.#calls.keys()) {
      if (this.#chars <= MAX_CHARS) return;
      this.forget(oldest);
    }
  }

  /** The call ended: nobody asks about it any more. */
  forget(toolCallId: string): void {
    for (const [path, change] of this.#calls.get(toolCallId) ?? []) this.#chars -= charsOf(path, change);
    this.#calls.delete(toolCallId);
  }

  /** The newest change of each file of a call, as far as they are kept. */
  of(toolCallId: string): readonly FileDiff[] {
    return [...(this.#calls.get(toolCallId) ?? [])].map(([path, change]) => ({ path, change }));
  }
}

function charsOf(path: string, change: FileChange): number {
  switch (change.form) {
    case "texts":
      return path.length + change.newText.length + (change.oldText?.length ?? 0);
    case "patch":
      return path.length + change.patch.length;
    case "unavailable":
      return path.length + change.why.length;
  }
}
