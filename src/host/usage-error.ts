/** What the person asked for cannot be done as written: one sentence, no stack, exit code 2. */
export class UsageError extends Error {
  readonly exitCode = 2;
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UsageError";
  }
}
