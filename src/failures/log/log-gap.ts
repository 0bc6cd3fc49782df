/** What is wrong with a run's log as evidence (failure observations, section 12). Each makes one incident, see `gap:` ids. */

export interface LogGap {
  /** Short, without a colon: what events about it are named by, together with `byte`. */
  readonly name:
    | "line-too-long"
    | "unreadable-line"
    | "torn-end"
    | "lost-lines"
    | "log-missing"
    | "log-unreadable"
    | "log-replaced"
    | "log-truncated"
    | "log-head-changed";
  /** What its incident is grouped by. */
  readonly operation: "scan" | "log-access";
  /** Where in the log; 0 when it is about the log as a whole. */
  readonly byte: number;
  /** The evidence is gone for good; otherwise the gap ends with the next scan that works. */
  readonly permanent: boolean;
  /** A sentence without a full stop. */
  readonly text: string;
}

export function lineTooLong(byte: number, maxBytes: number): LogGap {
  const text = `A line of the run's log is longer than ${maxBytes / 1024 ** 2} MiB and was not read`;
  return { name: "line-too-long", operation: "scan", byte, permanent: true, text };
}

export function unreadableLine(byte: number): LogGap {
  const text = "A line of the run's log cannot be read: it was cut, or written over";
  return { name: "unreadable-line", operation: "scan", byte, permanent: true, text };
}

export function tornEnd(byte: number): LogGap {
  return { name: "torn-end", operation: "scan", byte, permanent: true, text: "The run's log ends in half a line" };
}

export function lostLines(byte: number, lines: number): LogGap {
  const text = `${lines} lines of the run's log could not be written`;
  return { name: "lost-lines", operation: "scan", byte, permanent: true, text };
}

export function logMissing(): LogGap {
  return {
    name: "log-missing",
    operation: "log-access",
    byte: 0,
    permanent: false,
    text: "The run's log is not there",
  };
}

/** `code`: the system's, an empty string when there is none. */
export function logUnreadable(code: string): LogGap {
  const text = `The run's log cannot be read (${code || "unknown reason"})`;
  return { name: "log-unreadable", operation: "log-access", byte: 0, permanent: false, text };
}

export function logReplaced(): LogGap {
  const text = "The run's log is another file than the one that was read before";
  return { name: "log-replaced", operation: "scan", byte: 0, permanent: true, text };
}

export function logTruncated(bytes: number): LogGap {
  const text = "The run's log is shorter than it was";
  return { name: "log-truncated", operation: "scan", byte: bytes, permanent: true, text };
}

export function logHeadChanged(): LogGap {
  const text = "The run's log begins in another way than it did";
  return { name: "log-head-changed", operation: "scan", byte: 0, permanent: true, text };
}
