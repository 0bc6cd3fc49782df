import type { AcpSession } from "./session.ts";
import type { PromptOptions } from "./types.ts";

/** What a prompt may be given inside of this library: sessions are its own. */
export type TurnOptions = Omit<PromptOptions, "reopen"> & {
  readonly reopen?: ((signal: AbortSignal) => Promise<AcpSession>) | undefined;
};
