import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensureStateFolder, ostlerPaths, shortPath } from "../../src/host/paths.ts";

test.each([
  {
    from: "nothing set",
    env: { HOME: "/home/ann" },
    paths: {
      configFile: "/home/ann/.config/ostler/config.json",
      state: "/home/ann/.local/state/ostler",
      data: "/home/ann/.local/share/ostler",
      adapters: "/home/ann/.local/share/ostler/adapters",
    },
  },
  {
    from: "XDG folders",
    env: { HOME: "/home/ann", XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s", XDG_DATA_HOME: "/d" },
    paths: {
      configFile: "/c/ostler/config.json",
      state: "/s/ostler",
      data: "/d/ostler",
      adapters: "/d/ostler/adapters",
    },
  },
  {
    from: "a relative XDG folder, which the specification says to ignore",
    env: { HOME: "/home/ann", XDG_STATE_HOME: "state", XDG_DATA_HOME: "" },
    paths: { state: "/home/ann/.local/state/ostler", data: "/home/ann/.local/share/ostler" },
  },
  {
    from: "OSTLER_HOME, which puts all in one folder",
    env: { HOME: "/home/ann", OSTLER_HOME: "/one", XDG_STATE_HOME: "/s" },
    paths: { configFile: "/one/config.json", state: "/one/state", data: "/one", adapters: "/one/adapters" },
  },
])("$from", ({ env, paths }) => {
  expect(ostlerPaths(env)).toMatchObject(paths);
});

test("the state folder is the user's alone, also when it was open before", () => {
  const home = mkdtempSync(join(tmpdir(), "ostler-paths-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const paths = ostlerPaths({ OSTLER_HOME: home });
  ensureStateFolder(paths);
  expect(statSync(paths.state).mode & 0o777).toBe(0o700);
  chmodSync(paths.state, 0o755);
  ensureStateFolder(paths);
  expect(statSync(paths.state).mode & 0o777).toBe(0o700);
  mkdirSync(join(paths.state, "runs"));
});

test.each([
  { path: "/home/ann", short: "~" },
  { path: "/home/ann/x", short: "~/x" },
  { path: "/home/annette/x", short: "/home/annette/x" },
  { path: "/etc", short: "/etc" },
])("$path is shown as $short", ({ path, short }) => {
  expect(shortPath(path, { HOME: "/home/ann" })).toBe(short);
});
