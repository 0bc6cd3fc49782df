/**
 * Confinement against programs that want out, as root and as a plain user. Each attack is first made without confinement,
 * where it must succeed: else its failure inside would prove nothing.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfinedHome, EVERYBODY } from "./confined-home.ts";

/** Scripts that change something outside of the workspace. */
const WRITES: readonly { readonly from: string; readonly script: string }[] = [
  { from: "a forged provenance record", script: 'echo forged >"$STATE/provenance/ag_zzzzzz_1.json"' },
  { from: "a provenance record replaced", script: 'echo forged >p && mv p "$STATE/provenance/ag_abcdef_1.json"' },
  { from: "meta.json that says trusted", script: `echo '{"taskRuntime":true}' >"$RUN/meta.json"` },
  { from: "a line in the journal", script: 'echo forged >>"$RUN/failures.jsonl"' },
  { from: "the log cut off", script: 'true >"$RUN/output.log"' },
  { from: "the run removed", script: 'rm -rf "$RUN"' },
  { from: "the store", script: 'echo forged >"$STATE/store.sqlite"' },
  { from: "the configuration", script: 'echo forged >"$OSTLER/config.json"' },
  { from: "an installed adapter", script: 'echo forged >"$OSTLER/adapters/node_modules/.bin/codex-acp"' },
  { from: "Ostler's own program", script: 'echo forged >"$ROOT/mine/app/dist/cli.js"' },
  { from: "modes", script: 'chmod -R 777 "$OSTLER"' },
  { from: "a hard link to the journal", script: 'ln "$RUN/failures.jsonl" link && echo forged >>link' },
  { from: "a link to the folder of runs", script: 'ln -s "$STATE/runs" link && echo forged >link/x' },
  { from: "the state folder renamed", script: 'mv "$STATE" "$OSTLER/old" && mkdir -p "$STATE/provenance"' },
  { from: "Ostler's folder renamed", script: 'mv "$OSTLER" "$OSTLER.old" && mkdir "$OSTLER"' },
  { from: "the folder above renamed", script: 'mv "$ROOT/mine" "$ROOT/old" && mkdir -p "$STATE/provenance"' },
  { from: "two folders exchanged", script: 'mkdir other && mv -T "$ROOT/mine" "$ROOT/old"' },
  { from: "the root folder of another process", script: 'echo forged >"/proc/$VICTIM/root$STATE/x"' },
  { from: "the folder that another process works in", script: 'echo forged >"/proc/$VICTIM/cwd/x"' },
  {
    from: "a namespace of its own, and what was mounted unmounted",
    script: `unshare -Urm sh -c 'umount -l "$STATE"; umount -l "$OSTLER"; umount -l "$ROOT/mine"; echo forged >"$STATE/x"'`,
  },
  {
    from: "a namespace of its own, mounted for writing",
    script: `unshare -Urm sh -c 'mount -o remount,bind,rw "$OSTLER"; echo forged >"$STATE/x"'`,
  },
  {
    from: "a namespace of its own, mounted at another place",
    script: `unshare -Urm sh -c 'mount --bind "$OSTLER" empty && mount -o remount,bind,rw empty; echo forged >empty/state/x'`,
  },
  {
    from: "a namespace of its own, the whole mounted without what lies above it",
    script: `unshare -Urm sh -c 'mount --bind / empty || mount --bind "$ROOT" empty; for top in "empty$OSTLER" empty/mine/ostler; do echo forged >"$top/state/x"; done'`,
  },
  {
    from: "a namespace of its own, the mounts moved away",
    script: `unshare -Urm sh -c 'mount --rbind "$ROOT" empty; umount -l empty/mine/ostler; mv empty/mine/ostler empty/mine/old'`,
  },
];

describe.each(EVERYBODY)("writes as %s", (who) => {
  test.each(WRITES)("$from", async ({ script }) => {
    const open = new ConfinedHome(who);
    const before = open.snapshot();
    open.run(script, undefined, open.victim().pid);
    expect(open.snapshot()).not.toEqual(before);

    const home = new ConfinedHome(who);
    const confine = await home.confine();
    const untouched = home.snapshot();
    const told = home.run(`{ ${script}\n}; echo tried >notes.txt; echo tried`, confine, home.victim().pid);
    expect(home.snapshot()).toEqual(untouched);
    expect(told).toContain("tried");
    expect(readFileSync(join(home.work, "notes.txt"), "utf8")).toBe("tried\n");
  });
});

/** Scripts that print `reached` when they get at another process of the same user. */
const REACHES: readonly { readonly from: string; readonly script: string }[] = [
  { from: "a signal", script: 'kill -0 "$VICTIM" && echo reached' },
  { from: "its memory, which ptrace would open as well", script: ': 3<>"/proc/$VICTIM/mem" && echo reached' },
  {
    from: "its environment, where tokens are",
    script: 'cat "/proc/$VICTIM/environ" >copy && [ -s copy ] && echo reached',
  },
  { from: "the list of processes", script: '[ "$(cat "/proc/$VICTIM/comm")" = sleep ] && echo reached' },
];

describe.each(EVERYBODY)("other processes, as %s", (who) => {
  test.each(REACHES)("$from", async ({ script }) => {
    const home = new ConfinedHome(who);
    const confine = await home.confine();
    const victim = home.victim();
    expect(home.run(script, undefined, victim.pid)).toContain("reached");
    expect(home.run(script, confine, victim.pid)).not.toContain("reached");
    expect(victim.exitCode).toBeNull();
  });
});

const CONNECT = `"$NODE" -e 'require("net").connect(process.argv[1]).on("connect", () => { console.log("reached"); process.exit() }).on("error", (error) => console.log(error.code))'`;

test.each([
  { from: "another Ostler", path: "ostler/state/sockets/owner.sock", env: () => ({}) },
  {
    from: "the services of the login session",
    path: "run/bus",
    env: (root: string) => ({ XDG_RUNTIME_DIR: join(root, "mine/run") }),
  },
  {
    from: "a terminal multiplexer",
    path: "run/default",
    env: (root: string) => ({ TMUX: `${join(root, "mine/run/default")},1,0` }),
  },
])("$from cannot be asked to act outside", async ({ path, env }) => {
  const home = new ConfinedHome();
  mkdirSync(join(home.root, "mine/run"));
  const socket = join(home.root, "mine", path);
  const server = createServer().listen(socket);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const inOrder = `${CONNECT} "${socket}"`;
  const confine = await home.confine({ env: env(home.root) });
  const answers = await Promise.all([told(inOrder, home, (command) => command), told(inOrder, home, confine)]);
  expect(answers).toEqual(["reached", "ENOENT"]);
});

/** As {@link ConfinedHome.run}, while this process goes on answering. */
async function told(
  script: string,
  home: ConfinedHome,
  confine: Awaited<ReturnType<ConfinedHome["confine"]>>,
): Promise<string> {
  const { file, args } = confine({ file: "/bin/sh", args: ["-c", script] });
  const child = spawn(file, args, { cwd: home.work, env: { ...process.env, NODE: process.execPath } });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(child, "close");
  return Buffer.concat(chunks).toString().trim();
}

describe("what is left to it", () => {
  test("the workspace, the rest of the file system, the network and its own processes", async () => {
    const home = new ConfinedHome();
    const script =
      'echo new >made.txt && cat notes.txt && ls "$STATE/runs" && echo x >"$ROOT/beside" && echo y >/dev/null && id -u; sleep 5 & kill $! && echo ended';
    const output = home.run(script, await home.confine());
    expect(output).toContain("ended");
    expect(output).toContain(`notes\nag_abcdef_1\n${process.getuid?.()}\n`);
    expect(readFileSync(join(home.work, "made.txt"), "utf8")).toBe("new\n");
  });

  test("its exit code and its streams are its own", async () => {
    const confine = await new ConfinedHome().confine();
    const { file, args } = confine({ file: "/bin/sh", args: ["-c", "cat; echo problem >&2; exit 7", "--", "-x"] });
    const { status, stdout, stderr } = spawnSync(file, args, { input: "said", encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 7, stdout: "said", stderr: "problem\n" });
  });
});

describe("where Ostler's folders are", () => {
  test("inside the workspace: they are protected all the same", async () => {
    const home = new ConfinedHome();
    const confine = await home.confine({ workspace: join(home.root, "mine") });
    const before = home.snapshot();
    home.run(
      'echo forged >"$STATE/x"; rm -rf "$OSTLER"; mv "$ROOT/mine" "$ROOT/old"; mv "$OSTLER" "$OSTLER.old"',
      confine,
    );
    expect(home.snapshot()).toEqual(before);
  });

  test("around the workspace: refused", async () => {
    const home = new ConfinedHome();
    expect(await home.prove({ workspace: join(home.ostler, "state") })).toEqual({
      trusted: false,
      because: `The workspace is in ${home.ostler}, Ostler's own folder`,
    });
  });

  test("behind a link that can be replaced: refused", async () => {
    const home = new ConfinedHome();
    renameSync(home.ostler, join(home.root, "real"));
    symlinkSync(join(home.root, "real"), home.ostler);
    expect(await home.prove()).toEqual({
      trusted: false,
      because: `Ostler's folder is reached through a link in ${join(home.root, "mine")}, which the agent could replace`,
    });
  });

  test.each([
    { from: "the runs on another disk", part: "state/runs", write: 'echo forged >"$ROOT/elsewhere/x"' },
    { from: "the configuration among dotfiles", part: "config.json", write: 'echo forged >"$ROOT/elsewhere"' },
  ])("$from, by a link inside: protected there", async ({ part, write }) => {
    const home = new ConfinedHome();
    renameSync(join(home.ostler, part), join(home.root, "elsewhere"));
    symlinkSync(join(home.root, "elsewhere"), join(home.ostler, part));
    const confine = await home.confine();
    const before = home.snapshot();
    home.run(`${write}; mv "$ROOT/elsewhere" "$ROOT/old"`, confine);
    expect(home.snapshot()).toEqual(before);
  });

  test("nowhere yet: they are made, so that they can be protected", async () => {
    const home = new ConfinedHome();
    const paths = {
      configFile: join(home.root, "new/config/config.json"),
      state: join(home.root, "new/state"),
      data: join(home.root, "new/data"),
      adapters: join(home.root, "new/data/adapters"),
    };
    const confine = await home.confine({ paths });
    const before = home.snapshot();
    home.run(
      'for name in config state data; do echo forged >"$ROOT/new/$name/x"; done; mv "$ROOT/new" "$ROOT/old"',
      confine,
    );
    expect(home.snapshot()).toEqual(before);
  });
});

test("Ostler installed where the agent works: refused", async () => {
  const home = new ConfinedHome();
  const files = join(home.work, "node_modules");
  mkdirSync(files);
  expect(await home.prove({ installation: { files, folder: home.work } })).toEqual({
    trusted: false,
    because: `Ostler itself is installed in ${home.work}, where the agent works`,
  });
});

test("without bubblewrap: said, with what to install", async () => {
  const because = "bubblewrap is not installed; install the package bubblewrap of your system (program bwrap)";
  expect(await new ConfinedHome().prove({ programFolders: [] })).toEqual({ trusted: false, because });
});

test("a bwrap that somebody else than the system owns is not taken", async () => {
  const home = new ConfinedHome();
  const fake = join(home.work, "bwrap");
  writeFileSync(fake, '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  if (process.getuid?.() === 0) chownSync(fake, 65534, 65534);
  expect(await home.prove({ programFolders: [home.work] })).toMatchObject({
    because: expect.stringContaining("is not installed"),
  });
});
