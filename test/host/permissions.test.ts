import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PermissionOption, PermissionRequest } from "../../src/acp/types.ts";
import { createPermissionPolicy } from "../../src/host/permissions.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "ostler-permissions-")));
const workspace = join(root, "workspace");
const added = join(root, "added");

beforeAll(() => {
  mkdirSync(join(workspace, "src"), { recursive: true });
  mkdirSync(added);
  mkdirSync(join(root, "workspace-of-somebody-else"));
  writeFileSync(join(root, "secret"), "");
  symlinkSync(join(root, "secret"), join(workspace, "link-out"));
  symlinkSync(root, join(workspace, "folder-out"));
  symlinkSync(join(workspace, "src"), join(workspace, "link-in"));
  symlinkSync(join(root, "not-there-yet"), join(workspace, "link-nowhere"));
  symlinkSync(workspace, join(root, "workspace-link"));
  mkdirSync(join(root, "elsewhere", "deep"), { recursive: true });
  symlinkSync(join(root, "elsewhere", "deep"), join(workspace, "link-deep"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The options of claude-agent-acp 0.101.0, recording write-new, in its order. */
const claudeOptions: readonly PermissionOption[] = [
  { optionId: "allow-with-updates", name: "Yes, allow all edits during this session", kind: "allow_always" },
  { optionId: "allow-once", name: "Yes", kind: "allow_once" },
  { optionId: "reject", name: "No", kind: "reject_once" },
];
const allowed = { action: "select", optionId: "allow-once", denied: false };
const denied = (reason: string) => ({ action: "select", optionId: "reject", denied: true, reason });
const outside = denied("It reaches outside the workspace");
const notReading = denied("Only reading and searching inside the workspace is approved");

function request(parts: Partial<PermissionRequest>): PermissionRequest {
  return {
    sessionId: "s",
    toolCallId: "t",
    title: "Read README.md",
    paths: [],
    options: claudeOptions,
    isQuestion: false,
    ...parts,
  };
}

function answer(parts: Partial<PermissionRequest>, policy: Partial<Parameters<typeof createPermissionPolicy>[0]> = {}) {
  const decide = createPermissionPolicy({ approve: "reads", workspace, ...policy });
  return decide(request(parts), new AbortController().signal);
}

test.each([
  { from: "claude Read", parts: { kind: "read", paths: ["src/a.ts"], rawInput: { file_path: "src/a.ts" } } },
  {
    from: "kiro read, paths only inside operations",
    parts: { kind: "read", rawInput: { operations: [{ path: "src" }] } },
  },
  { from: "the workspace itself", parts: { kind: "read", paths: ["."] } },
  { from: "a file that does not exist", parts: { kind: "read", paths: ["src/new/deep.ts"] } },
  { from: "a link that stays inside", parts: { kind: "read", paths: ["link-in/a.ts"] } },
  { from: "a name that begins with two dots", parts: { kind: "read", paths: ["..hidden"] } },
  { from: "a search with no path", parts: { kind: "search", rawInput: { pattern: "TODO" } } },
  { from: "a search with a wildcard", parts: { kind: "search", rawInput: { pattern: "src/**/*.{ts,tsx}" } } },
  { from: "codex cwd inside", parts: { kind: "search", rawInput: { cwd: "src", query: "x" } } },
  { from: "a text that looks like a path", parts: { kind: "search", rawInput: { query: "/api/users" } } },
  { from: "a text to look at that holds input", parts: { kind: "search", rawInput: { old_string: '{"a":1}' } } },
  { from: "climbing that stays inside", parts: { kind: "read", paths: ["src/../src/new.ts"] } },
  { from: "a request that says the same again", parts: { kind: "read", paths: ["src"], claimed: { kind: "search" } } },
])("reads, allowed once: $from", async ({ parts }) => {
  expect(await answer(parts)).toEqual(allowed);
});

test.each([
  { from: "an edit", parts: { kind: "edit", paths: ["src/a.ts"] } },
  { from: "a command", parts: { kind: "execute", rawInput: { command: "cat a" } } },
  { from: "a fetch", parts: { kind: "fetch", rawInput: { url: "https://example.com" } } },
  { from: "a call that was never announced", parts: {} },
  { from: "a kind that nobody knows", parts: { kind: "peruse", paths: ["src/a.ts"] } },
  { from: "a title that says reading", parts: { kind: "edit", title: "Read src/a.ts", paths: ["src/a.ts"] } },
  {
    from: "codex: a command labelled as reading",
    parts: { kind: "read", paths: ["a"], rawInput: { command: "cat a", cwd: "." } },
  },
  {
    from: "a request that is about more than the frame said",
    parts: { kind: "search", claimed: { kind: "execute", rawInput: { command: "rm -rf ." } } },
  },
  { from: "a request with a command in it", parts: { kind: "search", claimed: { rawInput: { command: "rm" } } } },
  { from: "an MCP tool that is said to read", parts: { kind: "read", paths: ["src"], mcpServer: "x" } },
  { from: "a command under another name", parts: { kind: "search", rawInput: { exec: "rm" } } },
  { from: "a command deep in the input", parts: { kind: "search", rawInput: { steps: [{ cmd: ["rm"] }] } } },
])("reads, denied as something else: $from", async ({ parts }) => {
  expect(await answer(parts)).toEqual(notReading);
});

test.each([
  { from: "an absolute path", parts: { kind: "read", paths: ["/etc/passwd"] } },
  { from: "climbing", parts: { kind: "read", paths: ["src/../../secret"] } },
  {
    from: "a sibling whose name begins like the workspace",
    parts: { kind: "read", paths: ["../workspace-of-somebody-else/a"] },
  },
  { from: "a link to a file outside", parts: { kind: "read", paths: ["link-out"] } },
  { from: "a link to a folder outside", parts: { kind: "read", paths: ["folder-out/secret"] } },
  { from: "a new file behind a link to a folder outside", parts: { kind: "read", paths: ["folder-out/new/file"] } },
  { from: "a link to nowhere", parts: { kind: "read", paths: ["link-nowhere"] } },
  { from: "one path of several", parts: { kind: "read", paths: ["src/a.ts", "/etc/passwd"] } },
  {
    from: "input that says more than the locations",
    parts: { kind: "read", paths: ["src"], rawInput: { filePath: "/etc/passwd" } },
  },
  {
    from: "a path deep in the input",
    parts: { kind: "read", paths: ["src"], rawInput: { operations: [{ paths: ["/etc"] }] } },
  },
  { from: "the home folder", parts: { kind: "read", paths: ["~/.ssh/id_ed25519"] } },
  { from: "a file URL", parts: { kind: "read", rawInput: { uri: pathToFileURL("/etc/passwd").href } } },
  { from: "a file URL with a host", parts: { kind: "read", rawInput: { uri: "file://host/etc/passwd" } } },
  { from: "a web address", parts: { kind: "read", rawInput: { uri: "https://example.com/x" } } },
  { from: "a search elsewhere", parts: { kind: "search", rawInput: { pattern: "x", path: "/etc" } } },
  { from: "codex cwd outside", parts: { kind: "search", rawInput: { cwd: "/" } } },
  { from: "an absolute pattern", parts: { kind: "search", rawInput: { pattern: "/etc/*" } } },
  { from: "a pattern of the home folder", parts: { kind: "search", rawInput: { glob: "~/.ssh/*" } } },
  { from: "a pattern that climbs after a wildcard", parts: { kind: "search", rawInput: { pattern: "**/../../*" } } },
  { from: "an absolute choice in a pattern", parts: { kind: "search", rawInput: { include: "{src,/etc}/*" } } },
  {
    from: "input too deep to be read whole",
    parts: { kind: "read", paths: ["src"], rawInput: JSON.parse(`${"[".repeat(50)}${"]".repeat(50)}`) },
  },
  {
    from: "`..` behind a link, which climbs from where the link leads",
    parts: { kind: "read", paths: ["link-deep/../x"] },
  },
  { from: "`..` behind a link in a file URL", parts: { kind: "read", paths: [`file://${workspace}/link-deep/../x`] } },
  { from: "`..` behind nothing", parts: { kind: "read", paths: ["not-there/../src"] } },
  { from: "the home folder of somebody else", parts: { kind: "read", paths: ["~root/.ssh/id_rsa"] } },
  { from: "a variable", parts: { kind: "read", paths: ["$HOME/.ssh/id_rsa"] } },
  { from: "a variable in braces", parts: { kind: "read", paths: ["${HOME}/.ssh/id_rsa"] } },
  { from: "a blank in front", parts: { kind: "read", paths: [" /etc/passwd"] } },
  { from: "two lines", parts: { kind: "read", paths: ["src\n/etc/passwd"] } },
  { from: "the folder of the process", parts: { kind: "read", paths: ["/proc/self/cwd/src"] } },
  {
    from: "a path under a name of its own",
    parts: { kind: "read", paths: ["src"], rawInput: { target: "/etc/shadow" } },
  },
  { from: "input that is a path", parts: { kind: "read", paths: ["src"], rawInput: "/etc/shadow" } },
  { from: "a list of paths", parts: { kind: "read", paths: ["src"], rawInput: ["../secret"] } },
  { from: "input within a text", parts: { kind: "read", paths: ["src"], rawInput: '{"path":"/etc/shadow"}' } },
  {
    from: "a request that names another path than the frame",
    parts: { kind: "read", paths: ["src"], claimed: { paths: ["/etc/shadow"] } },
  },
  {
    from: "a request with other input than the frame",
    parts: { kind: "read", paths: ["src"], claimed: { rawInput: { file_path: "/etc/shadow" } } },
  },
  { from: "a path longer than any system takes", parts: { kind: "read", paths: ["a".repeat(5000)] } },
  { from: "a letter that no file name can hold", parts: { kind: "read", paths: ["src/\0"] } },
])("reads, denied as outside: $from", async ({ parts }) => {
  expect(await answer(parts)).toEqual(outside);
});

test("reads: more paths than can be looked at are denied", async () => {
  const paths = Array.from({ length: 1001 }, (_, n) => `src/${n}`);
  expect(await answer({ kind: "read", paths })).toEqual(denied("It names more paths than can be looked at"));
});

test("reads: reading nothing that is known is denied", async () => {
  expect(await answer({ kind: "read", rawInput: {} })).toEqual(denied("What it reads is not known"));
});

test("an added folder counts as inside, and its neighbours do not", async () => {
  const policy = { additionalDirectories: [added] };
  expect(await answer({ kind: "read", paths: [join(added, "a")] }, policy)).toEqual(allowed);
  expect(await answer({ kind: "read", paths: [join(root, "secret")] }, policy)).toEqual(outside);
});

test("a workspace named through a link is the folder it points to", async () => {
  const policy = { workspace: join(root, "workspace-link") };
  expect(await answer({ kind: "read", paths: [join(workspace, "src")] }, policy)).toEqual(allowed);
});

test("`~` inside the workspace counts when the workspace is the home folder", async () => {
  expect(await answer({ kind: "read", paths: ["~/notes"] }, { workspace: homedir() })).toEqual(allowed);
});

test.each(["read", "edit", "execute", undefined])("all: %s is allowed once, never always", async (kind) => {
  const parts = { ...(kind !== undefined && { kind }), paths: ["/etc/passwd"] };
  expect(await answer(parts, { approve: "all" })).toEqual(allowed);
});

test.each(["all", "reads"] as const)("%s: with no allow_once option it is denied", async (approve) => {
  const options = claudeOptions.filter(({ kind }) => kind !== "allow_once");
  expect(await answer({ kind: "read", paths: ["src"], options }, { approve })).toEqual(
    denied("The agent offers no way to allow it just once"),
  );
});

test("none: reading inside the workspace is denied, too", async () => {
  expect(await answer({ kind: "read", paths: ["src"] }, { approve: "none" })).toEqual(
    denied("Nothing is approved without a person"),
  );
});

test.each(["all", "reads", "none"] as const)("%s: kiro V3's question is never answered by itself", async (approve) => {
  const options = ["A", "B"].map((name, index) => ({ optionId: `t-option-${index}`, name, kind: "allow_once" }));
  expect(await answer({ kind: "read", paths: ["src"], options, isQuestion: true }, { approve })).toEqual({
    action: "cancel",
    denied: true,
    reason: "It is a question for a person, and nobody is here to answer it",
  });
});

test.each([
  {
    from: "the first reject_once, wherever it stands",
    options: [
      { optionId: "never", name: "Never", kind: "reject_always" },
      { optionId: "no", name: "No", kind: "reject_once" },
      { optionId: "no-2", name: "No", kind: "reject_once" },
    ],
    expected: { action: "select", optionId: "no" },
  },
  {
    from: "reject_always when it is the only no",
    options: [{ optionId: "never", name: "Never", kind: "reject_always" }],
    expected: { action: "select", optionId: "never" },
  },
  {
    from: "cancel when there is no no",
    options: [{ optionId: "y", name: "Yes", kind: "allow_once" }],
    expected: { action: "cancel" },
  },
  { from: "cancel when there are no options", options: [], expected: { action: "cancel" } },
])("a denial picks $from", async ({ options, expected }) => {
  expect(await answer({ kind: "edit", options })).toMatchObject({ ...expected, denied: true });
});

test("a person is asked about what is not approved, and only about that", async () => {
  const asked: string[] = [];
  const ask = (question: PermissionRequest, _signal: AbortSignal, reason: string) => {
    asked.push(`${question.kind}: ${reason}`);
    return Promise.resolve("allow-with-updates");
  };
  expect(await answer({ kind: "read", paths: ["src"] }, { ask })).toEqual(allowed);
  expect(await answer({ kind: "edit", paths: ["src"] }, { ask })).toEqual({
    action: "select",
    optionId: "allow-with-updates",
    denied: false,
  });
  expect(asked).toEqual(["edit: Only reading and searching inside the workspace is approved"]);
});

test.each([
  { from: "a no", chosen: "reject" },
  { from: "no answer", chosen: null },
  { from: "an option that was not offered", chosen: "allow-everything" },
])("a person's $from is a denial", async ({ chosen }) => {
  expect(await answer({ kind: "edit" }, { ask: () => Promise.resolve(chosen) })).toEqual(denied("A person said no"));
});

test("none: nobody is asked", async () => {
  const asked: unknown[] = [];
  const ask = (question: PermissionRequest) => Promise.resolve(String(asked.push(question)));
  expect(await answer({ kind: "edit" }, { approve: "none", ask })).toMatchObject({ denied: true });
  expect(asked).toEqual([]);
});
