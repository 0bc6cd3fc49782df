/**
 * Brings the observation of a run that goes on up to date, once it is known whether the run is trusted: nothing is
 * folded before that, for at most 30 s (failure observations, section 10).
 */
import { statSync } from "node:fs";
import type { Observer } from "../failures/observation/observer.ts";
import { rescan } from "../failures/rescan.ts";
import type { RunRecorder } from "../failures/run-recorder.ts";
import { decideMetadataRecovered, leftoversOf, metadataGapEvent } from "../failures/runs/metadata-gap.ts";
import type { RunRegistry } from "../failures/runs/registry.ts";
import { TrustWait } from "../failures/runs/trust-wait.ts";
import type { TrustDecision } from "../failures/runs/trust-wait.ts";
import { readTrust } from "../failures/runs/trust.ts";

export interface TrustedFoldOptions {
  readonly registry: RunRegistry;
  readonly runId: string;
  readonly recorder: RunRecorder;
  readonly newObserver: (trusted: boolean) => Observer;
}

export class TrustedFold {
  readonly #options: TrustedFoldOptions;
  readonly #wait: TrustWait;
  /** Of the incidents that keep the gap of unreadable metadata open; empty without one. */
  #leftovers: ReadonlySet<string> = new Set();

  constructor(options: TrustedFoldOptions) {
    this.#options = options;
    const { registry, runId } = options;
    this.#wait = new TrustWait({
      read: () => readTrust(registry, runId),
      onDecision: (decision) => this.#decided(decision),
    });
  }

  begin(): void {
    this.#wait.begin();
  }

  /** The run is over: what could not be decided is observed under the exact rule now. */
  end(): void {
    this.#wait.end();
    this.#closeGap();
  }

  #decided({ metadata, trusted }: TrustDecision): void {
    const { registry, runId, recorder, newObserver } = this.#options;
    const journal = recorder.keep();
    const observer = newObserver(trusted);
    recorder.flush();
    const logFile = registry.logFile(runId);
    if (metadata === "unreadable") recorder.add([metadataGapEvent({ n: recorder.n, at: Date.now() })]);
    if (trusted || !wasLeftInOrder(registry, runId, logFile))
      rescan({ runId, logFile, observer, journal, trusted, terminal: false });
    recorder.observeWith(observer);
    if (metadata === "read" && trusted) this.#leftovers = leftoversOf(journal.state, observer.attempts);
    this.#closeGap();
  }

  #closeGap(): void {
    const { recorder } = this.#options;
    if (this.#wait.decision?.metadata !== "read") return;
    const recovered = decideMetadataRecovered(recorder.state, { leftovers: this.#leftovers, at: Date.now() });
    if (recovered !== undefined) recorder.add([recovered]);
  }
}

/** Its last process observed all of the log; whatever follows is observed live. */
function wasLeftInOrder(registry: RunRegistry, runId: string, logFile: string): boolean {
  const meta = registry.readMeta(runId);
  if (typeof meta === "string" || meta.observedTo === undefined) return false;
  return meta.observedTo.bytes === statSync(logFile, { throwIfNoEntry: false })?.size;
}
