/**
 * Why the system cannot run a program that is there and executable: what spawn says about it is the wrong name
 * (`ENOENT` for a missing interpreter), or nothing, for a file without a format is given to the shell.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";

/** How the program is run, or why not, as the end of a sentence that begins with its name. */
export type Executable =
  | { readonly interpreter?: Interpreter }
  | { readonly problem: string; readonly isLineEnds?: boolean };

/** The program of a `#!` line: a file, or a name that `env` looks up in PATH. */
export type Interpreter = { readonly file: string } | { readonly name: string };

const HEAD_BYTES = 4096;
const ELF = "\x7FELF";
/** `e_machine` of the ELF header, by Node's names. */
const MACHINES: ReadonlyMap<number, string> = new Map([
  [3, "ia32"],
  [40, "arm"],
  [62, "x64"],
  [183, "arm64"],
  [243, "riscv64"],
]);
const PT_INTERP = 3;
const FOREIGN_FORMATS: readonly (readonly [magic: RegExp, system: string])[] = [
  [/^MZ/, "Windows"],
  [/^(?:\xCF\xFA\xED\xFE|\xFE\xED\xFA[\xCE\xCF]|\xCA\xFE\xBA\xBE)/, "macOS"],
];

/** Reads the head of the file. Throws the system's error when it cannot be read. */
export function inspectExecutable(file: string): Executable {
  const head = readHead(file);
  const text = head.toString("latin1");
  if (head.length === 0) return { problem: "is an empty file" };
  if (text.startsWith("#!")) return inspectScript(text);
  if (process.platform !== "linux") return {};
  if (text.startsWith(ELF)) return inspectElf(head);
  const foreign = FOREIGN_FORMATS.find(([magic]) => magic.test(text));
  return foreign === undefined ? {} : { problem: `is a program for ${foreign[1]}` };
}

function inspectScript(text: string): Executable {
  const line = text.slice(2).split("\n", 1)[0] ?? "";
  if (line.endsWith("\r"))
    return { problem: "has Windows line ends, so its first line names no program", isLineEnds: true };
  const [program = "", ...words] = line.trim().split(/\s+/);
  if (!program.endsWith("/env")) {
    if (!isFile(program)) return { problem: `is run by ${program || "nothing"}, which does not exist` };
    return { interpreter: { file: program } };
  }
  // `env -S node --flag`, `env NAME=value node`.
  const name = words.find((word) => !word.startsWith("-") && !word.includes("="));
  return name === undefined ? {} : { interpreter: { name } };
}

function inspectElf(head: Buffer): Executable {
  const machine = head.length < 20 ? undefined : MACHINES.get(head.readUInt16LE(18));
  const runs = machine === process.arch || (machine === "ia32" && process.arch === "x64");
  if (machine !== undefined && !runs)
    return { problem: `is a program for ${machine}, and this machine is ${process.arch}` };
  const loader = loaderOf(head);
  if (loader === undefined || existsSync(loader)) return {};
  return { problem: `needs ${loader}, which this system does not have` };
}

/** The dynamic loader that a 64-bit program asks for: glibc's is missing on a musl system, and the reverse. */
function loaderOf(head: Buffer): string | undefined {
  const is64 = head[4] === 2 && head[5] === 1 && head.length >= 64;
  if (!is64) return undefined;
  const start = Number(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  for (let index = 0; index < head.readUInt16LE(56); index += 1) {
    const at = start + index * size;
    if (at + 40 > head.length) return undefined;
    if (head.readUInt32LE(at) !== PT_INTERP) continue;
    const from = Number(head.readBigUInt64LE(at + 8));
    const path = head.subarray(from, from + Number(head.readBigUInt64LE(at + 32))).toString("latin1");
    return path.startsWith("/") ? path.replace(/\0.*$/, "") : undefined;
  }
  return undefined;
}

function readHead(file: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  const descriptor = openSync(file, "r");
  try {
    return head.subarray(0, readSync(descriptor, head, 0, head.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
