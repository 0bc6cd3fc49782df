import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isLatePipeError } from "../../src/host/crash.ts";

const HOST = join(import.meta.dirname, "../../src/host");
const coded = (code: string) => Object.assign(new Error("x"), { code });

test.each([
  { from: "a reader that left", error: coded("EPIPE"), late: true },
  { from: "a peer that hung up", error: coded("ECONNRESET"), late: true },
  { from: "a stream that was destroyed", error: coded("ERR_STREAM_DESTROYED"), late: true },
  { from: "a write after our own end, a bug", error: coded("ERR_STREAM_WRITE_AFTER_END"), late: false },
  { from: "a full disk", error: coded("ENOSPC"), late: false },
  { from: "the word in a message", error: new Error("EPIPE"), late: false },
  { from: "no error at all", error: { code: "EPIPE" }, late: false },
])("$from", ({ error, late }) => {
  expect(isLatePipeError(error)).toBe(late);
});

/** A process with the handler, which throws one bug and then lives on. */
async function crashing(end: string): Promise<{ code: unknown; out: string[] }> {
  const home = mkdtempSync(join(tmpdir(), "ostler-crash-"));
  const source = `
    import { installCrashHandler } from "${HOST}/crash.ts";
    import { FlightRecorder } from "${HOST}/flight-recorder.ts";
    import { Log } from "${HOST}/log.ts";
    import { ostlerPaths } from "${HOST}/paths.ts";
    const paths = ostlerPaths({ OSTLER_HOME: "${home}" });
    installCrashHandler({
      paths, log: new Log(paths), recorder: new FlightRecorder(), argv: () => [], graceMs: 100,
      end: async (error) => { console.log("end " + error.message); ${end} },
      leave: (error, report) => { console.log("leave " + error.message + " " + ("file" in report)); process.exit(7); },
    });
    setInterval(() => {}, 1e6);
    throw new TypeError("first");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  const [code]: unknown[] = await once(child, "close");
  return { code, out: out.trimEnd().split("\n") };
}

test.each([
  { from: "an end that does its work", end: "" },
  { from: "an end that never comes", end: "await new Promise(() => {});" },
  { from: "an end that fails", end: `throw new Error("second");` },
  {
    from: "a second bug on the way out",
    end: `setImmediate(() => { throw new Error("second"); }); await new Promise((done) => setTimeout(done, 20));`,
  },
])("the process leaves, once: $from", async ({ end }) => {
  expect(await crashing(end)).toEqual({ code: 7, out: ["end first", "leave first true"] });
});
