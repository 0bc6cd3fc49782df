/** Why a file cannot be read, as the end of a sentence. */
export function fileProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return PROBLEMS[code] ?? (code === "" ? "it cannot be read" : `it cannot be read (${code})`);
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "you may not read it",
  EPERM: "you may not read it",
  ERR_FS_FILE_TOO_LARGE: "it is too large",
};
