/** What a policy file decides about a tool call, from the file on disk to the answer. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { PermissionOption, PermissionRequest } from "../../src/acp/types.ts";
import { createPermissionPolicy } from "../../src/host/permissions.ts";
import { readPolicyFile } from "../../src/host/policy-file.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "ostler-policy-")));
const workspace = join(root, "workspace");
mkdirSync(join(workspace, "src"), { recursive: true });
writeFileSync(join(workspace, ".env"), "");
writeFileSync(join(root, "secret"), "");
symlinkSync(join(workspace, ".env"), join(workspace, "src/harmless"));
symlinkSync(join(root, "secret"), join(workspace, "src/out"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** As claude-agent-acp 0.101.0 offers them: an `always` first. */
const options: readonly PermissionOption[] = [
  { optionId: "always", name: "Yes, always", kind: "allow_always" },
  { optionId: "once", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
type Call = Partial<PermissionRequest>;
let files = 0;

function policyFile(policy: object | string): string {
  const file = join(root, `policy-${(files += 1)}.json`);
  writeFileSync(file, typeof policy === "string" ? policy : JSON.stringify(policy));
  return file;
}

/** The word and the reason, without a person; `ask` = a person would have been asked. */
async function decide(policy: object, call: Call) {
  let asked = false;
  const base = { approve: "reads", rules: await readPolicyFile(policyFile(policy)), workspace } as const;
  const request = {
    sessionId: "s",
    toolCallId: "t",
    title: "git status",
    paths: [],
    options,
    isQuestion: false,
    ...call,
  };
  const withPerson = createPermissionPolicy({
    ...base,
    ask: async () => {
      asked = true;
      return null;
    },
  });
  const answer = await withPerson(request, new AbortController().signal);
  if (answer.action === "select" && answer.optionId === "once") return "allow";
  expect(answer).toMatchObject({ action: "select", optionId: "no", denied: true });
  return asked ? "ask" : "deny";
}

const run = (command: unknown, more: object = {}): Call => ({ kind: "execute", rawInput: { command, ...more } });
const read = (path: string): Call => ({ kind: "read", paths: [path] });
const fetch = (url: string): Call => ({ kind: "fetch", rawInput: { url } });

const allowGit = { allow: [{ command: ["git status", "npm test"] }] };
const denyPush = { default: "allow", deny: [{ command: "git push" }] };
const allowSource = { allow: [{ inside: "src/**" }] };
const denyEnv = { default: "allow", deny: [{ inside: ["**/.env"] }] };
const allowHost = { allow: [{ host: ["docs.rs", "*.example.com"] }] };
const denyHost = { default: "allow", deny: [{ host: "evil.example" }] };
const allowMcp = { allow: [{ mcp: "tracker" }] };

test.each([
  // Commands, to allow: word by word.
  { policy: allowGit, call: run("git status"), word: "allow" },
  { policy: allowGit, call: run("git status --short"), word: "allow" },
  { policy: allowGit, call: run("npm test"), word: "allow" },
  { policy: allowGit, call: run(["git", "status"]), word: "allow" },
  { policy: allowGit, call: run("git", { args: ["status"] }), word: "allow" },
  // codex wraps every command (recordings codex-acp 2.6.0).
  { policy: allowGit, call: run("/bin/bash -lc 'git status'", { cwd: workspace }), word: "allow" },
  { policy: allowGit, call: run("/bin/bash -lc 'git push'"), word: "deny" },
  { policy: allowGit, call: run("bash -c 'git status'"), word: "allow" },
  { policy: allowGit, call: run(["/usr/bin/sh", "-c", "git status"]), word: "allow" },
  // A shell of its own, and other runners, may be anything.
  ...[
    "src/bash -c 'git status'",
    "./bash -c 'git status'",
    "/tmp/evil/bash -c 'git status'",
    "/bin/../tmp/sh -c 'git status'",
  ].map((command) => ({ policy: allowGit, call: run(command), word: "deny" })),
  { policy: allowGit, call: run(["/tmp/evil/bash", "-c", "git status"]), word: "deny" },
  { policy: allowGit, call: run("env git status"), word: "deny" },
  { policy: allowGit, call: run("src/timeout 5 git status"), word: "deny" },
  { policy: allowGit, call: run("/tmp/evil/git status"), word: "deny" },
  { policy: allowGit, call: run("git statusx"), word: "deny" },
  { policy: allowGit, call: run("git"), word: "deny" },
  { policy: allowGit, call: run("echo git status"), word: "deny" },
  { policy: allowGit, call: run("PATH=/evil git status"), word: "deny" },
  { policy: allowGit, call: run("git 'status"), word: "deny" },
  { policy: allowGit, call: run("'git status'"), word: "deny" },
  { policy: allowGit, call: run("git", { args: ["push"] }), word: "deny" },
  { policy: allowGit, call: run("git status", { env: { GIT_PAGER: "evil" } }), word: "deny" },
  { policy: allowGit, call: run({ run: "git status" }), word: "deny" },
  { policy: allowGit, call: run(undefined), word: "deny" },
  ...[";", "&&", "|", "&", ">", "<", "$(x)", "`x`", "(", ")", "\n", "\\"].map((sign) => ({
    policy: allowGit,
    call: run(`git status ${sign} rm x`),
    word: "deny",
  })),
  { policy: allowGit, call: run("/bin/bash -lc 'git status; rm x'"), word: "deny" },
  { policy: allowGit, call: run("git status", { steps: [{ cmd: "rm x" }] }), word: "deny" },
  { policy: allowGit, call: { kind: "execute", title: "git status" }, word: "deny" },

  // Commands, to deny: wherever one may stand.
  { policy: denyPush, call: run("git status"), word: "allow" },
  { policy: denyPush, call: run("git push"), word: "deny" },
  { policy: denyPush, call: run("git -C x push --force"), word: "deny" },
  { policy: denyPush, call: run("cd x && git push"), word: "deny" },
  { policy: denyPush, call: run("make; (git push)"), word: "deny" },
  { policy: denyPush, call: run('g"it" pu\\sh'), word: "deny" },
  { policy: denyPush, call: run("/usr/bin/git push"), word: "deny" },
  { policy: denyPush, call: run("env A=1 sudo -E timeout 5 git push"), word: "deny" },
  { policy: denyPush, call: run("/bin/bash -lc 'git push'"), word: "deny" },
  { policy: denyPush, call: run(["bash", "-c", "git push"]), word: "deny" },
  { policy: denyPush, call: run("$X push"), word: "deny" },
  { policy: denyPush, call: run("$(echo git) push"), word: "deny" },
  { policy: denyPush, call: run("base64 -d x | sh"), word: "deny" },
  ...[
    "git \\\n push",
    "gi\\\nt push",
    "if true; then git push; fi",
    "if x; then y; elif git push; then z; fi",
    "for a in b; do git push; done",
    "x || { git push; }",
    "coproc git push",
    "! git push",
    "A+=b git push",
    "A[1]=b git push",
    ">out git push",
    "2> out git push",
    "git 2>&1 push",
    "git >out push",
    "&>out git push",
    "sudo -u root git push",
    "env -u X git push",
    "env -S 'git push'",
    "env --split-string='git push'",
    "timeout -s KILL 5 git push",
    "nice -n 5 git push",
    "flock f git push",
    "flock f -c 'git push'",
    "su -c 'git push'",
    "su root -c'git push'",
    "trap 'git push' EXIT",
    "find . -exec git push \\;",
    "find . -exec git {} \\;",
    "xargs -I {} git push {}",
    "echo push | xargs git",
    "echo x | xargs -I% sh -c %",
    "echo git push | xargs env",
    "ssh host git push",
    "busybox env git push",
    "git $P",
    "git $(echo push)",
    "git `echo push`",
    "`echo git` push",
    "ls `git push`",
    "git p?sh",
    "git pu*",
    "/usr/bin/g[i]t push",
    "git {push,--force}",
    "{git,push}",
    "$'git' push",
    "sh <<EOF\ngit push\nEOF",
    "sh <<< 'git push'",
    "sh < script",
    "cat <(git push)",
    "GIT push",
    "git.exe push",
    "python3 -c 'import os; os.system(\"git push\")'",
    "src/bash -c 'git push'",
  ].map((command) => ({ policy: denyPush, call: run(command), word: "deny" })),
  { policy: denyPush, call: run(["/tmp/evil/bash", "-c", "git push"]), word: "deny" },
  { policy: denyPush, call: run(["git status", "git push"]), word: "deny" },
  { policy: denyPush, call: run(undefined, { commands: ["git status", "git push"] }), word: "deny" },
  ...[
    "rm -fr x",
    "rm -r -f x",
    "rm x -f -r",
    "rm --recursive --force x",
    "rm -Rf x",
    "busybox rm -rf x",
    "rm -rfv x",
  ].map((command) => ({
    policy: { default: "allow", deny: [{ command: "rm -rf" }] },
    call: run(command),
    word: "deny",
  })),
  ...["rm -r x", "rm x", "ls -rf", "git add *.ts"].map((command) => ({
    policy: { default: "allow", deny: [{ command: "rm -rf" }] },
    call: run(command),
    word: "allow",
  })),
  // What is read whole and is something else is left alone.
  ...[
    "git add src/*.ts",
    "git log > out",
    "echo 'git' 2>&1",
    "sudo -u root ls",
    "npm test -- --push",
    "bash -c 'git status'",
    "for a in b; do git fetch; done",
    "ls $HOME",
  ].map((command) => ({ policy: denyPush, call: run(command), word: "allow" })),
  { policy: denyPush, call: run(42), word: "deny" },
  { policy: denyPush, call: { kind: "read", paths: ["a"], rawInput: { cmd: "git push" } }, word: "deny" },
  { policy: denyPush, call: { kind: "edit", title: "git push", paths: ["src/a"] }, word: "allow" },

  // Paths.
  { policy: allowSource, call: read("src/a/b.ts"), word: "allow" },
  { policy: allowSource, call: read("src"), word: "allow" },
  { policy: allowSource, call: { kind: "edit", paths: [join(workspace, "src/a.ts")] }, word: "allow" },
  { policy: allowSource, call: read("README.md"), word: "deny" },
  { policy: allowSource, call: read("src/../.env"), word: "deny" },
  { policy: allowSource, call: read("src/harmless"), word: "deny" },
  { policy: allowSource, call: read("src/out"), word: "deny" },
  { policy: allowSource, call: read("/src/a"), word: "deny" },
  { policy: allowSource, call: { kind: "edit", paths: ["src/a"], rawInput: { path: "b" } }, word: "deny" },
  { policy: allowSource, call: { kind: "read" }, word: "deny" },
  { policy: allowSource, call: run("cat x", { cwd: join(workspace, "src") }), word: "deny" },
  { policy: allowSource, call: { kind: "other", rawInput: { path: "src/a" } }, word: "deny" },
  { policy: { allow: [{ outside: "/etc/*" }] }, call: read("/etc/hosts"), word: "allow" },
  { policy: { allow: [{ outside: "/etc/*" }] }, call: read("/etc/ssl/key"), word: "deny" },
  { policy: { allow: [{ inside: "**" }] }, call: { kind: "search", rawInput: { pattern: "TODO" } }, word: "allow" },
  { policy: { allow: [{ inside: "**" }] }, call: { kind: "search", rawInput: { pattern: "../**" } }, word: "deny" },
  { policy: denyEnv, call: read("src/a"), word: "allow" },
  { policy: denyEnv, call: read(".env"), word: "deny" },
  { policy: denyEnv, call: read("src/.ENV"), word: "deny" },
  { policy: denyEnv, call: read("src/harmless"), word: "deny" },
  { policy: denyEnv, call: { kind: "read" }, word: "deny" },
  { policy: { default: "allow", deny: [{ outside: "**" }] }, call: read("src/out"), word: "deny" },
  { policy: { default: "allow", deny: [{ outside: "**" }] }, call: read("~/.ssh/id"), word: "deny" },

  // Hosts.
  { policy: allowHost, call: fetch("https://docs.rs/zod"), word: "allow" },
  { policy: allowHost, call: fetch("https://API.example.com./x"), word: "allow" },
  { policy: allowHost, call: fetch("https://example.com/"), word: "deny" },
  { policy: allowHost, call: fetch("https://docs.rs@evil.example/"), word: "deny" },
  { policy: allowHost, call: fetch("https://docs.rs.evil.example/"), word: "deny" },
  { policy: allowHost, call: { kind: "fetch", rawInput: { query: "docs.rs" } }, word: "deny" },
  { policy: allowHost, call: { kind: "fetch", rawInput: { urls: ["https://docs.rs", "https://a.b"] } }, word: "deny" },
  { policy: allowHost, call: run("curl", { url: "https://docs.rs" }), word: "deny" },
  { policy: denyHost, call: fetch("https://docs.rs"), word: "allow" },
  { policy: denyHost, call: fetch("https://EVIL.example:8443/x"), word: "deny" },
  { policy: denyHost, call: fetch("http://[bad"), word: "deny" },
  { policy: denyHost, call: { kind: "fetch" }, word: "deny" },

  // MCP servers: the frame says which, the input and the title only claim it.
  { policy: allowMcp, call: { kind: "other", mcpServer: "tracker" }, word: "allow" },
  { policy: allowMcp, call: { kind: "other", mcpServer: "shell" }, word: "deny" },
  { policy: allowMcp, call: { kind: "other", mcpServer: "" }, word: "deny" },
  { policy: allowMcp, call: { kind: "other", title: "mcp__tracker__x" }, word: "deny" },
  { policy: allowMcp, call: { kind: "other", rawInput: { server: "tracker" } }, word: "deny" },
  { policy: { allow: [{ kind: "read" }] }, call: { kind: "read", mcpServer: "tracker" }, word: "deny" },
  { policy: { default: "allow", deny: [{ mcp: "shell" }] }, call: { kind: "other", mcpServer: "" }, word: "deny" },
  {
    policy: { default: "allow", deny: [{ mcp: "shell" }] },
    call: { kind: "other", rawInput: { server: "shell" } },
    word: "deny",
  },

  // Kinds.
  { policy: { allow: [{ kind: ["read", "search"] }] }, call: read("/etc/hosts"), word: "allow" },
  { policy: { allow: [{ kind: "read" }] }, call: { kind: "read", rawInput: { command: "cat a" } }, word: "deny" },
  { policy: { allow: [{ kind: "execute" }] }, call: run("anything; at all"), word: "allow" },
  { policy: { allow: [{ kind: "read" }] }, call: {}, word: "deny" },
  { policy: { default: "allow" }, call: {}, word: "ask" },
  { policy: { default: "allow", deny: [{ kind: "edit" }] }, call: {}, word: "deny" },

  // All conditions of a rule; deny over ask over allow; the default.
  { policy: { allow: [{ kind: "edit", inside: "src/**" }] }, call: read("src/a"), word: "deny" },
  { policy: { allow: [{ kind: "edit", inside: "src/**" }] }, call: { kind: "edit", paths: ["src/a"] }, word: "allow" },
  { policy: { allow: [{ kind: "read" }], ask: [{ inside: "src/**" }] }, call: read("src/a"), word: "ask" },
  { policy: { ask: [{ kind: "read" }], deny: [{ inside: "src/**" }] }, call: read("src/a"), word: "deny" },
  { policy: { default: "ask" }, call: read("src/a"), word: "ask" },
  { policy: {}, call: read("src/a"), word: "deny" },
  { policy: { default: "allow" }, call: { ...read("src/a"), isQuestion: true }, word: "ask" },

  // Every path of the input, whatever it is called.
  ...[
    { path: "src/a", to: "b" },
    { path: "src/a", target: "b" },
    { path: "src/a", destination: "b.ts" },
    { path: "src/a", new_name: "b" },
    { path: "src/a", x: "lib/b.ts" },
    { path: "src/a", changes: { "/etc/passwd": { type: "add" } } },
    { path: "src/a", changes: { "lib/b.ts": { type: "add" } } },
    { path: "src/a", changes: { "b.ts": { move_path: null } } },
    { path: "src/a", file: { name: "b" } },
    { path: "src/a", patch: "*** Begin Patch\n*** Update File: b\n@@\n" },
    { path: "src/a", patch: "*** Begin Patch\n*** Update File: src/a\n*** Move to: b\n" },
    { path: "src/a", diff: "--- a/b\n+++ b/b\n@@ -1 +1 @@\n" },
    { path: "src/a", diff: "diff --git a/b b/b\nrename from b\nrename to c\n" },
    { path: "src/a", "*** Update File: b": "x" },
    { path: "src/a", url: "https://evil.example" },
    { path: "src/a", x: "https://evil.example" },
    { path: "src/a", bash: "rm x" },
  ].map((rawInput) => ({ policy: allowSource, call: { kind: "edit", rawInput }, word: "deny" })),
  {
    policy: allowSource,
    call: { kind: "move", rawInput: { path: "src/a", to: "src/b", "src/c.ts": 1 } },
    word: "allow",
  },
  {
    policy: denyEnv,
    call: { kind: "edit", rawInput: { path: "src/a", changes: { ".env": { type: "update" } } } },
    word: "deny",
  },
  {
    policy: denyEnv,
    call: { kind: "edit", rawInput: "*** Begin Patch\n*** Update File: .env\n" },
    word: "deny",
  },
  { policy: allowSource, call: { kind: "edit", rawInput: { command: "create", path: "b" } }, word: "deny" },
  { policy: allowSource, call: { kind: "edit", rawInput: { command: "rm", path: "src/a" } }, word: "deny" },
  {
    policy: allowSource,
    call: { kind: "edit", rawInput: { command: "create", args: ["x"], path: "b" } },
    word: "deny",
  },

  // What stands beside a command.
  ...[
    { cwd: "/etc" },
    { workdir: "/etc" },
    { working_dir: ".." },
    { directory: "/etc" },
    { cwd: "src/out" },
    { x: "/etc" },
    { bash: "rm x" },
    { exec: "rm x" },
    { code: "rm x" },
    { program: "/tmp/x" },
    { commands: ["git status", "rm x"] },
    { stdin: "y" },
    { steps: { before: "rm x" } },
    { url: "https://evil.example" },
  ].map((more) => ({ policy: allowGit, call: run("git status", more), word: "deny" })),
  { policy: allowGit, call: run("git status", { working_dir: "src", timeout: 5, tty: true }), word: "allow" },
  {
    policy: { allow: [{ command: "git status", outside: "/etc/**" }] },
    call: run("git status", { cwd: "/etc" }),
    word: "allow",
  },
  {
    policy: { allow: [{ command: "git status", inside: "src/**" }] },
    call: run("/bin/bash -lc 'git status'", { cwd: join(workspace, "src") }),
    word: "allow",
  },
  { policy: { allow: [{ command: "git status", inside: "src/**" }] }, call: run("git status"), word: "deny" },
  ...["bash", "exec", "program", "run", "code", "commandLine"].map((key) => ({
    policy: denyPush,
    call: { kind: "other", rawInput: { [key]: "git push" } },
    word: "deny",
  })),

  // Every host of a fetch; those in a command and in a text are enough to deny.
  ...["target", "proxy", "baseUrl", "website", "address", "webUrl", "base_url", "x", "server"].map((key) => ({
    policy: allowHost,
    call: { kind: "fetch", rawInput: { url: "https://docs.rs", [key]: "https://evil.example" } },
    word: "deny",
  })),
  {
    policy: allowHost,
    call: { kind: "fetch", rawInput: { url: "https://docs.rs", proxy: "evil.example:8080" } },
    word: "deny",
  },
  { policy: allowHost, call: { kind: "fetch", rawInput: { url: "https://docs.rs", output: "/etc/x" } }, word: "deny" },
  { policy: denyHost, call: run("curl http://evil.example/x"), word: "deny" },
  { policy: denyHost, call: run("ssh root@evil.example"), word: "deny" },
  { policy: denyHost, call: run("curl http://$X/"), word: "deny" },
  { policy: denyHost, call: run("curl https://docs.rs"), word: "allow" },
  {
    policy: denyHost,
    call: { kind: "fetch", rawInput: { url: "https://docs.rs", x: ["evil.example"] } },
    word: "deny",
  },
  {
    policy: denyHost,
    call: { kind: "fetch", rawInput: { url: "https://docs.rs", prompt: "then http://evil.example" } },
    word: "deny",
  },

  // Signs of MCP.
  { policy: { allow: [{ kind: "other" }] }, call: { kind: "other", mcpServer: "" }, word: "deny" },
  {
    policy: { allow: [{ kind: "other" }] },
    call: { kind: "other", rawInput: { server: "x", tool: "y" } },
    word: "deny",
  },
  { policy: { allow: [{ kind: "other" }] }, call: { kind: "other", claimed: { mcpServer: "x" } }, word: "deny" },
  {
    policy: { allow: [{ kind: "read" }] },
    call: { kind: "read", rawInput: JSON.parse(`{"a":${"[".repeat(50)}${"]".repeat(50)}}`) },
    word: "deny",
  },
])("$policy decides $call: $word", async ({ policy, call, word }) => {
  expect(await decide(policy, call)).toBe(word);
});

/** The real shapes of input, each with the rule that anybody would write for it. */
test.each<{ from: string; rule: object; call: Call }>([
  {
    from: "claude-agent-acp 0.101.0 Read",
    rule: { kind: "read", inside: "**" },
    call: {
      kind: "read",
      paths: [join(workspace, "src/a")],
      rawInput: { file_path: join(workspace, "src/a"), offset: 1 },
    },
  },
  {
    from: "claude-agent-acp 0.101.0 plain edit-diff",
    rule: { inside: "src/**" },
    call: {
      kind: "edit",
      paths: [join(workspace, "src/app.txt")],
      rawInput: {
        replace_all: false,
        file_path: join(workspace, "src/app.txt"),
        old_string: "see /etc/passwd and https://a.b",
        new_string: "--- a/x\n+++ b/x\n",
      },
    },
  },
  {
    from: "claude-agent-acp 0.101.0 plain write-new",
    rule: { inside: "src/**" },
    call: {
      kind: "edit",
      rawInput: { file_path: join(workspace, "src/new.txt"), content: "/etc/x\n*** Update File: x\nrm -rf x\n" },
    },
  },
  {
    from: "claude-agent-acp 0.101.0 seq-tools, Bash",
    rule: { command: "git status" },
    call: run("git status", { description: "Run a test command in /etc", timeout: 1500 }),
  },
  {
    from: "claude-agent-acp 0.101.0 bash-background-stop",
    rule: { command: "sleep" },
    call: run("sleep 60", { description: "Long background work", run_in_background: true }),
  },
  {
    from: "claude Grep",
    rule: { inside: "**" },
    call: {
      kind: "search",
      rawInput: { pattern: "a/b", path: workspace, glob: "*.ts", output_mode: "content", "-n": true, type: "ts" },
    },
  },
  { from: "claude Glob", rule: { inside: "**" }, call: { kind: "search", rawInput: { pattern: "src/**/*.ts" } } },
  {
    from: "claude WebFetch",
    rule: { host: "docs.rs" },
    call: { kind: "fetch", rawInput: { url: "https://docs.rs/zod", prompt: "Compare it with https://a.b/c" } },
  },
  {
    from: "claude, an MCP tool",
    rule: { mcp: "tracker" },
    call: { kind: "other", mcpServer: "tracker", rawInput: { id: 1, path: "/etc", url: "https://a.b" } },
  },
  {
    from: "codex-acp 2.6.0 shell-approval",
    rule: { command: "git status" },
    call: run("/bin/bash -lc 'git status'", { cwd: workspace }),
  },
  {
    from: "codex-acp 2.6.0 apply-patch, the paths of its diffs",
    rule: { kind: "edit", inside: "src/**" },
    call: { kind: "edit", paths: [join(workspace, "src/fresh.txt"), join(workspace, "src/notes.txt")] },
  },
  {
    from: "codex-acp 2.6.0, an MCP tool",
    rule: { mcp: "made" },
    call: { kind: "execute", mcpServer: "made", rawInput: { server: "made", tool: "make", arguments: { a: "x" } } },
  },
  {
    from: "codex-acp 2.6.0 shell-grep-nomatch",
    rule: { kind: "search", inside: "**" },
    call: { kind: "search" },
  },
  {
    from: "kiro v2 shell",
    rule: { command: "git status" },
    call: run("git status", { __tool_use_purpose: "See /etc", working_dir: workspace }),
  },
  {
    from: "kiro v2 read",
    rule: { inside: "src/**" },
    call: { kind: "read", rawInput: { operations: [{ mode: "Line", path: "src/a", offset: 52, limit: 80 }] } },
  },
  {
    from: "kiro v2 write",
    rule: { kind: "edit", inside: "src/**" },
    call: { kind: "edit", rawInput: { command: "create", path: "src/a", content: "/etc" } },
  },
  {
    from: "kiro V3 read",
    rule: { kind: "read" },
    call: { kind: "read", paths: ["src/a"], rawInput: { path: "src/a", offset: null, limit: null } },
  },
  {
    from: "kiro V3 edit",
    rule: { inside: "src/**" },
    call: { kind: "edit", paths: ["src/a"], rawInput: { path: "src/a", oldStr: "/x", newStr: "https://a.b" } },
  },
  {
    from: "kiro V3 delete",
    rule: { kind: "delete", inside: "src/**" },
    call: { kind: "delete", paths: ["src/a"], rawInput: { targetFile: "src/a", explanation: "is /tmp/x" } },
  },
])("a real call is allowed by the obvious rule: $from", async ({ rule, call }) => {
  expect(await decide({ allow: [rule] }, call)).toBe("allow");
});

test.each([
  {
    from: "a rule that asks",
    policy: { ask: [{ kind: "read" }] },
    reason: "The permission policy leaves it to a person (ask rule 1), and nobody is here to ask",
  },
  {
    from: "a rule that denies",
    policy: { deny: [{ mcp: "x" }, { kind: "read" }] },
    reason: "The permission policy denies it (deny rule 2)",
  },
  { from: "no rule", policy: {}, reason: "No rule of the permission policy allows it" },
])("without a person it is denied, with the reason: $from", async ({ policy, reason }) => {
  const rules = await readPolicyFile(policyFile(policy));
  const decideAlone = createPermissionPolicy({ approve: "all", rules, workspace });
  const request = {
    sessionId: "s",
    toolCallId: "t",
    title: "",
    paths: ["a"],
    kind: "read",
    options,
    isQuestion: false,
  };
  expect(await decideAlone(request, new AbortController().signal)).toEqual({
    action: "select",
    optionId: "no",
    denied: true,
    reason,
  });
});

test.each([
  { from: "no JSON", policy: "{", sentence: /is not valid JSON$/ },
  { from: "a list", policy: "[]", sentence: /the file must hold one JSON object$/ },
  { from: "an unknown word", policy: { alow: [] }, sentence: /alow is not a setting \(did you mean "allow"\?\)$/ },
  {
    from: "an unknown condition",
    policy: { deny: [{ comand: "x" }] },
    sentence: /deny\.0\.comand is not a setting \(did you mean "command"\?\)$/,
  },
  {
    from: "an unknown kind",
    policy: { deny: [{ kind: "reed" }] },
    sentence: /deny\.0\.kind must be one or more of read, /,
  },
  {
    from: "a rule without a condition",
    policy: { allow: [{}] },
    sentence: /allow\.0 must be an object with at least one of kind, /,
  },
  { from: "an unknown default", policy: { default: "maybe" }, sentence: /default must be one of allow, ask, deny$/ },
  { from: "a loose gate", policy: { gate: "optional" }, sentence: /gate must be "required" or absent$/ },
  {
    from: "a pattern that means more elsewhere",
    policy: { deny: [{ inside: "*.{env,key}" }] },
    sentence: /deny\.0\.inside must be a pattern/,
  },
  { from: "inside, from the root", policy: { deny: [{ inside: "/etc/**" }] }, sentence: /deny\.0\.inside must be/ },
  {
    from: "a URL as host",
    policy: { allow: [{ host: "https://a.b/c" }] },
    sentence: /allow\.0\.host must be a host name/,
  },
  { from: "an empty command", policy: { allow: [{ command: " " }] }, sentence: /allow\.0\.command must be/ },
])("not used at all: $from", async ({ policy, sentence }) => {
  await expect(readPolicyFile(policyFile(policy))).rejects.toThrow(sentence);
});

test("not used at all: no such file", async () => {
  await expect(readPolicyFile(join(root, "none.json"))).rejects.toThrow(/^The permission policy \S+ does not exist$/);
});
