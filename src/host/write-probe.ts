/**
 * Whether confinement holds, tried from inside before anything is trusted to it: what bubblewrap was told is one thing,
 * what kernel and mounts of this machine make of it another.
 */
import { readlinkSync } from "node:fs";
import type { CommandLine } from "../acp/ports.ts";
import { cleanLine } from "../errors/redact.ts";
import { runBriefly } from "./run-briefly.ts";

/** It takes some 20 ms; a machine under load gets its time. */
const PROBE_MS = 10_000;
const MAX_REASON_CHARS = 200;
const NAMESPACES = ["user", "pid", "mnt"] as const;

/**
 * Every place is written to; a folder that was already open when Ostler started, and is handed on, would be a way out
 * whatever is mounted; the names of the namespaces tell that they are others. The last line tells that all of it ran.
 */
const SCRIPT = `
for place; do
  if [ -d "$place" ]; then (: >"$place/.write-probe") 2>/dev/null; else (: >>"$place") 2>/dev/null; fi
  if [ $? = 0 ]; then rm -f "$place/.write-probe"; echo "writable $place"; fi
done
for fd in /proc/self/fd/*; do if [ -d "$fd" ]; then echo "open \${fd##*/}"; fi; done
for name in ${NAMESPACES.join(" ")}; do echo "$name $(readlink /proc/self/ns/$name)"; done
echo done
`;

/** A sentence (no full stop) about what is wrong; undefined when the places are safe from what `confine` starts. */
export async function probeConfinement(
  confine: (command: CommandLine) => CommandLine,
  places: readonly string[],
): Promise<string | undefined> {
  const { file, args } = confine({ file: "/bin/sh", args: ["-c", SCRIPT, "sh", ...places] });
  const env = { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" };
  return readProbe(await runBriefly(file, args, { env, timeoutMs: PROBE_MS }), outsideNamespaces());
}

/** What the probe said, judged. */
export function readProbe(
  { code, stdout, stderr }: { readonly code: number | null; readonly stdout: string; readonly stderr: string },
  outside: readonly string[],
): string | undefined {
  const lines = stdout.split("\n").filter(Boolean);
  if (code !== 0 || lines.at(-1) !== "done") {
    const [reason = ""] = stderr.replace(/^bwrap: /, "").split("\n");
    const said = reason === "" ? "the probe did not answer" : cleanLine(reason, MAX_REASON_CHARS);
    return `bubblewrap cannot confine programs on this machine: ${said}`;
  }
  const writable = lines.find((line) => line.startsWith("writable "))?.slice("writable ".length);
  if (writable !== undefined)
    return `${cleanLine(writable, MAX_REASON_CHARS)} can be written to from inside the confinement`;
  if (lines.some((line) => line.startsWith("open ")))
    return "Ostler was started with an open folder that the agent would inherit";
  const shared = NAMESPACES.find((name, index) => lines.includes(`${name} ${outside[index]}`));
  if (shared !== undefined) return `The confinement shares the ${shared} namespace with Ostler`;
  return undefined;
}

function outsideNamespaces(): string[] {
  return NAMESPACES.map((name) => readlinkSync(`/proc/self/ns/${name}`));
}
