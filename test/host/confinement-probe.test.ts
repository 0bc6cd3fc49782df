/** What the probe makes of a confinement that does not hold, and where else a folder may be mounted. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aliasesOf, parseMounts } from "../../src/host/mount-aliases.ts";
import { probeConfinement, readProbe } from "../../src/host/write-probe.ts";
import { ConfinedHome } from "./confined-home.ts";

const OUTSIDE = ["user:[1]", "pid:[2]", "mnt:[3]"];
const INSIDE = "user user:[4]\npid pid:[5]\nmnt mnt:[6]\ndone\n";

test.each([
  { from: "all in order", stdout: INSIDE, because: undefined },
  {
    from: "a folder could be written to",
    stdout: `writable /home/ann/.local/state/ostler\n${INSIDE}`,
    because: "~/.local/state/ostler can be written to from inside the confinement",
  },
  {
    from: "a folder that was open before",
    stdout: `open 17\n${INSIDE}`,
    because: "Ostler was started with an open folder that the agent would inherit",
  },
  {
    from: "no pid namespace of its own",
    stdout: INSIDE.replace("pid:[5]", "pid:[2]"),
    because: "The confinement shares the pid namespace with Ostler",
  },
  {
    from: "cut off before its end",
    stdout: INSIDE.replace("done\n", ""),
    because: "bubblewrap cannot confine programs on this machine: the probe did not answer",
  },
  {
    from: "bubblewrap 0.8 where user namespaces are forbidden",
    code: 1,
    stdout: "",
    stderr: "bwrap: setting up uid map: Permission denied\n",
    because: "bubblewrap cannot confine programs on this machine: setting up uid map: Permission denied",
  },
  {
    from: "ended by its deadline",
    code: null,
    stdout: INSIDE,
    because: "bubblewrap cannot confine programs on this machine: the probe did not answer",
  },
])("$from", ({ code = 0, stdout, stderr = "", because }) => {
  expect(readProbe({ code, stdout, stderr }, OUTSIDE)).toBe(because);
});

test("without any confinement the probe can write, and takes away what it wrote", async () => {
  const { ostler } = new ConfinedHome();
  expect(await probeConfinement((command) => command, [ostler])).toBe(
    `${ostler} can be written to from inside the confinement`,
  );
  expect(existsSync(join(ostler, ".write-probe"))).toBe(false);
});

test("with mounts of its own alone it is not enough", async () => {
  const { ostler } = new ConfinedHome();
  const mountsOnly = ["--unshare-user", "--bind", "/", "/", "--ro-bind", ostler, ostler];
  const because = await probeConfinement(
    ({ file, args }) => ({ file: "bwrap", args: [...mountsOnly, file, ...args] }),
    [ostler],
  );
  expect(because).toBe("The confinement shares the pid namespace with Ostler");
});

const MOUNTS = parseMounts(
  [
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw",
    "23 22 8:2 / /home rw - ext4 /dev/sda2 rw",
    "24 22 8:2 / /mnt/whole\\040disk rw - ext4 /dev/sda2 rw",
    "25 22 8:2 /ann/projects /srv/projects rw - ext4 /dev/sda2 rw",
    "26 22 0:30 /@home /data/home rw - btrfs /dev/sdb rw",
    "27 22 0:30 / /data/all rw - btrfs /dev/sdb rw",
  ].join("\n"),
);

test.each([
  { from: "mounted once", path: "/var/lib/ostler", places: [] },
  { from: "on a disk that is mounted twice", path: "/home/ann/.state", places: ["/mnt/whole disk/ann/.state"] },
  {
    from: "also in a part that is mounted elsewhere",
    path: "/home/ann/projects/x",
    places: ["/mnt/whole disk/ann/projects/x", "/srv/projects/x"],
  },
  { from: "seen from the part", path: "/srv/projects", places: ["/home/ann/projects", "/mnt/whole disk/ann/projects"] },
  { from: "a subvolume within its whole", path: "/data/home/ann", places: ["/data/all/@home/ann"] },
])("other paths: $from", ({ path, places }) => {
  expect(aliasesOf(path, MOUNTS)).toEqual(places);
});

test("a folder that is open already, and handed on, would be a way out", async () => {
  const home = new ConfinedHome();
  const confine = await home.confine();
  const because = await probeConfinement(
    (command) => {
      const { file, args } = confine(command);
      return { file: "/bin/sh", args: ["-c", 'exec "$@" 9<"$0"', home.root, file, ...args] };
    },
    [home.ostler],
  );
  expect(because).toBe("Ostler was started with an open folder that the agent would inherit");
});
