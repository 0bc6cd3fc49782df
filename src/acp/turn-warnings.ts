import type { Failure } from "../errors/failure.ts";

const MAX_WARNINGS = 256;

/** The warnings that an outcome repeats, by id: the newest. The sink and the events had them all. */
export class TurnWarnings extends Map<string, Failure> {
  keep(warning: Failure): void {
    this.set(warning.id, warning);
    if (this.size > MAX_WARNINGS) this.delete(this.keys().next().value!);
  }
}
