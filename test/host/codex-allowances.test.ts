/** Which settings of codex let tools run without a question, found in the files as codex 0.166 reads them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { AcpToolGateUnroutable } from "../../src/errors/acp-error.ts";
import { findCodexAllowance, requireAskingSettings } from "../../src/host/codex-allowances.ts";

const root = mkdtempSync(join(tmpdir(), "ostler-codex-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
/** What is found with these files below a fresh folder, whose `home/.codex` is codex's own and `work/deep` the workspace. */
function found(files: Readonly<Record<string, string>>): string | undefined {
  count += 1;
  const base = join(root, String(count));
  for (const [name, content] of Object.entries({ "work/deep/x": "", ...files })) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), content);
  }
  return findCodexAllowance({ env: { HOME: join(base, "home") }, cwd: join(base, "work/deep") })?.replaceAll(base, "");
}

const RULES = "home/.codex/rules/default.rules";
const CONFIG = "home/.codex/config.toml";

test.each<{ from: string; files: Readonly<Record<string, string>>; finds: string }>([
  {
    from: "what codex writes when a person picks 'always'",
    files: { [RULES]: 'prefix_rule(pattern=["touch"], decision="allow")\n' },
    finds: "The rules in /home/.codex/rules/default.rules let commands run without asking",
  },
  {
    from: "a rule without a decision, which allows",
    files: { [RULES]: 'prefix_rule(pattern=["git"], decision="prompt")\nprefix_rule(\n  pattern = ["rm"],\n)\n' },
    finds: "The rules in /home/.codex/rules/default.rules let commands run without asking",
  },
  {
    from: "a decision in a comment decides nothing",
    files: { [RULES]: 'prefix_rule(pattern=["rm"]) # decision="prompt"\n' },
    finds: "The rules in /home/.codex/rules/default.rules let commands run without asking",
  },
  {
    from: "rules of the project, above the workspace",
    files: { "work/.codex/rules/team.rules": 'prefix_rule(pattern=["make"], decision="allow")' },
    finds: "The rules in /work/.codex/rules/team.rules let commands run without asking",
  },
  {
    from: "a rules file that cannot be read (a folder)",
    files: { "home/.codex/rules/odd.rules/x": "" },
    finds: "The rules in /home/.codex/rules/odd.rules let commands run without asking",
  },
  {
    from: "a hook in hooks.json",
    files: { "home/.codex/hooks.json": '{"hooks":{"PermissionRequest":[]}}' },
    finds: "A PermissionRequest hook in /home/.codex/hooks.json may allow tools without asking",
  },
  {
    from: "a hook in config.toml",
    files: { [CONFIG]: "[[hooks.PermissionRequest]]\n" },
    finds: "A PermissionRequest hook in /home/.codex/config.toml may allow tools without asking",
  },
  {
    from: "MCP tools that are approved beforehand",
    files: { [CONFIG]: '[mcp_servers.x]\ndefault_tools_approval_mode = "approve"\n' },
    finds: "/home/.codex/config.toml lets MCP tools run without asking",
  },
])("$from", ({ files, finds }) => {
  expect(found(files)).toBe(finds);
});

test.each<{ from: string; files: Readonly<Record<string, string>> }>([
  { from: "nothing at all", files: {} },
  {
    from: "rules that only tighten",
    files: {
      [RULES]: `prefix_rule(pattern=["git", "push"], decision = "forbidden", match = ["git push"])
prefix_rule(
    pattern = ["gh"], # every use
    decision = 'prompt',
)
`,
    },
  },
  { from: "a file of another kind beside the rules", files: { "home/.codex/rules/notes.txt": 'decision="allow"' } },
  {
    from: "settings that the mode of the session overrides (codex-acp 2.6.0 sets both itself)",
    files: { [CONFIG]: 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n' },
  },
  {
    from: "MCP tools that ask",
    files: { [CONFIG]: '[mcp_servers.x]\ndefault_tools_approval_mode = "prompt"\n# approval_mode = "approve"\n' },
  },
  { from: "hooks that only look on", files: { [CONFIG]: "[[hooks.PostToolUse]]\n" } },
])("nothing is found in: $from", ({ files }) => {
  expect(found(files)).toBeUndefined();
});

test("CODEX_HOME names the folder", () => {
  const home = join(root, "elsewhere");
  mkdirSync(join(home, "rules"), { recursive: true });
  writeFileSync(join(home, "rules/a.rules"), 'prefix_rule(pattern=["x"])');
  const place = { env: { HOME: join(root, "nobody"), CODEX_HOME: home }, cwd: root };
  expect(findCodexAllowance(place)).toBe(`The rules in ${join(home, "rules/a.rules")} let commands run without asking`);
});

test("a required gate cannot be had beside them", () => {
  const cwd = join(root, "refused");
  mkdirSync(join(cwd, ".codex/rules"), { recursive: true });
  writeFileSync(join(cwd, ".codex/rules/a.rules"), 'prefix_rule(pattern=["x"])');
  const place = { env: { HOME: join(root, "nobody") }, cwd };
  expect(() => requireAskingSettings(place)).toThrow(AcpToolGateUnroutable);
  expect(() => requireAskingSettings(place)).toThrow(/a\.rules let commands run.*policy requires that it asks/);
  expect(() => requireAskingSettings({ ...place, cwd: join(root, "nobody") })).not.toThrow();
});
