/** A loopback npm registry with small packages in the shape of the real adapters, for a real npm to install from. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface FakePackage {
  readonly name: string;
  readonly version: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly manifest?: Readonly<Record<string, unknown>>;
}

export interface FakeRegistry extends AsyncDisposable {
  readonly url: string;
  /** Paths that were asked for. */
  readonly requests: readonly string[];
}

const PLATFORM = `${process.platform}-${process.arch}`;

/** An adapter, the package of its harness, and that package's program for this platform. */
export function fakeAdapter(facts: { name: string; version: string; binary: string; native: string }): FakePackage[] {
  const { name, version, binary, native } = facts;
  return [
    {
      name,
      version,
      manifest: { bin: { [binary]: "index.js" }, dependencies: { [native]: "1.0.0" } },
      files: { "index.js": `#!/usr/bin/env node\nconsole.log("${binary} ${version}");\n` },
    },
    { name: native, version: "1.0.0", manifest: { optionalDependencies: { [`${native}-${PLATFORM}`]: "1.0.0" } } },
    { name: `${native}-${PLATFORM}`, version: "1.0.0", manifest: { os: [process.platform] } },
  ];
}

/** Serves the packages until it is disposed of. */
export async function startRegistry(packages: readonly FakePackage[]): Promise<FakeRegistry> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    requests.push(path);
    const found = packages.find(({ name }) => path === `/${name}` || path === `/${name}/-/package.tgz`);
    if (found === undefined) response.writeHead(404).end("{}");
    else if (path.endsWith(".tgz")) response.end(pack(found));
    else response.end(JSON.stringify(describe(found, `http://${request.headers.host}`)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The registry has no port");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function describe(found: FakePackage, host: string): unknown {
  const integrity = `sha512-${createHash("sha512").update(pack(found)).digest("base64")}`;
  const dist = { tarball: `${host}/${found.name}/-/package.tgz`, integrity };
  const version = { name: found.name, version: found.version, ...found.manifest, dist };
  return { name: found.name, "dist-tags": { latest: found.version }, versions: { [found.version]: version } };
}

const packed = new Map<string, Buffer>();

function pack(found: FakePackage): Buffer {
  const known = packed.get(found.name);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "ostler-pack-"));
  const { name, version, manifest, files } = found;
  const contents = { "package.json": JSON.stringify({ name, version, ...manifest }), ...files };
  for (const [path, text] of Object.entries(contents)) {
    const file = join(folder, "package", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  execFileSync("tar", ["-czf", "package.tgz", "package"], { cwd: folder });
  const bytes = readFileSync(join(folder, "package.tgz"));
  rmSync(folder, { recursive: true });
  packed.set(found.name, bytes);
  return bytes;
}
