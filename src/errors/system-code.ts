/** The system's code of an error (`ENOENT`, `EACCES`); an empty string when it carries none. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
