import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shellLine } from "../../src/host/finding.ts";
import { inspectOwnNode } from "../../src/host/inspect-node.ts";
import { inspectStateFolder, writeProblem } from "../../src/host/inspect-state.ts";
import { compareVersions, satisfies } from "../../src/host/version-order.ts";

const env = { HOME: "/home/ann" };

test.each([
  { words: ["codex", "login"], line: "codex login" },
  { words: ["/home/ann"], line: "~" },
  { words: ["chmod", "700", "/home/ann/x y"], line: "chmod 700 ~/'x y'" },
  { words: ["/home/ann/o'hara"], line: "~/'o'\\''hara'" },
  { words: ["rm", "/tmp/$(reboot);x"], line: "rm '/tmp/$(reboot);x'" },
  { words: ["~"], line: "~" },
  { words: ["a~b", "~c"], line: "'a~b' '~c'" },
  { words: ["", "*"], line: "'' '*'" },
])("$words can be pasted", ({ words, line }) => {
  expect(shellLine(words, env)).toBe(line);
});

test.each([
  { one: "2.5.9", other: "2.6.0", order: -1 },
  { one: "2.10.0", other: "2.9.9", order: 1 },
  { one: "0.101.0", other: "0.101.0", order: 0 },
  { one: "3.0.0-beta.1", other: "3.0.0", order: -1 },
  { one: "3.0.0", other: "3.0.0-rc.2", order: 1 },
  { one: "3.0.1-rc.1", other: "3.0.0", order: 1 },
])("$one beside $other", ({ one, other, order }) => {
  expect(Math.sign(compareVersions(one, other))).toBe(order);
});

test.each([
  { range: ">=22", yes: ["22.0.0", "26.1.0"], no: ["21.9.9"] },
  { range: ">= 22.12", yes: ["22.12.0"], no: ["22.11.9"] },
  { range: "^20.19.0 || >=22.12.0", yes: ["20.19.0", "20.30.1", "24.0.0"], no: ["20.18.9", "21.0.0", "22.11.0"] },
  { range: ">=18 <21", yes: ["18.0.0", "20.99.0"], no: ["21.0.0", "16.0.0"] },
  { range: "20.x", yes: ["20.0.0", "20.5.5"], no: ["21.0.0"] },
  { range: "~20.5", yes: ["20.5.9"], no: ["20.6.0"] },
  { range: "<=20", yes: ["20.9.9"], no: ["21.0.0"] },
  { range: ">20", yes: ["21.0.0"], no: ["20.9.9"] },
  { range: "18.1.0", yes: ["18.1.0"], no: ["18.1.1"] },
  { range: "*", yes: ["1.0.0"], no: [] },
  { range: "what is this", yes: ["1.0.0"], no: [] },
])("range $range", ({ range, yes, no }) => {
  expect(yes.filter((version) => !satisfies(version, range))).toEqual([]);
  expect(no.filter((version) => satisfies(version, range))).toEqual([]);
});

test.each([
  { version: "26.10.0", finding: { ok: true, note: "Node 26.10.0" } },
  { version: "24.0.0", finding: { ok: true } },
  { version: "22.22.0", finding: { ok: false, problem: "Ostler needs Node 24 or newer, and runs on 22.22.0" } },
])("Ostler's own Node, $version", ({ version, finding }) => {
  expect(inspectOwnNode(version)).toMatchObject(finding);
});

test.each([
  { code: "ENOSPC", problem: "No space is left for ~/state", fix: "Free some space on the disk of ~/state" },
  { code: "EDQUOT", problem: "No space is left for ~/state", fix: "Free some space on the disk of ~/state" },
  {
    code: "EROFS",
    problem: "~/state is on a disk that can only be read",
    fix: "Set OSTLER_HOME to a folder that can be written",
  },
  {
    code: "EIO",
    problem: "~/state cannot be written (EIO)",
    fix: "Set OSTLER_HOME to a folder that can be written",
  },
])("a first write that fails with $code", ({ code, problem, fix }) => {
  expect(writeProblem(code, "/home/ann/state", env)).toEqual({ check: "state", ok: false, problem, fix });
});

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ostler-state-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const NOBODY = 65_534;

/** What a user sees who is not root; root may write anywhere. */
function asUser<Result>(look: () => Result): Result {
  if (process.geteuid?.() !== 0) return look();
  process.seteuid?.(NOBODY);
  try {
    return look();
  } finally {
    process.seteuid?.(0);
  }
}

test("a folder above that is closed", () => {
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "closed"), { mode: 0o555 });
  const isRoot = process.geteuid?.() === 0;
  const look = () =>
    inspectStateFolder({ state: join(folder, "closed/state") }, { env: { HOME: folder }, tries: true });
  const [problem, fix] = isRoot
    ? ["~/closed is not writable for you", "Set OSTLER_HOME to a folder that can be written"]
    : ["~/closed is not writable", "chmod u+rwx ~/closed"];
  expect(asUser(look)).toEqual({ check: "state", ok: false, problem, fix });
});
