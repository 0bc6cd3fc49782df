/**
 * Runs a bundle from V8's code cache. Node's compile cache keeps a file as it was when it had just been read, so that
 * every function that is called is compiled again in every process: for one `ask` that costs half of a bare Node. Here
 * the cache is taken at the end of a run that went well, and holds what that run used. Without a cache, or with one that
 * does not fit, the bundle runs all the same.
 */
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require("node:fs");
const { Module, createRequire, wrap } = require("node:module");
const { dirname, join } = require("node:path");
const { Script } = require("node:vm");

exports.runWarm = function runWarm(/** @type {string} */ bundle) {
  const file = cacheFileIn(process.env);
  const key = keyOf(bundle);
  const cachedData = file === undefined ? undefined : readCache(file, key);
  const script = new Script(wrap(readFileSync(bundle, "utf8")), { filename: bundle, cachedData });
  if (file !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
    process.once("exit", (exitCode) => {
      if (exitCode === 0) writeCache(file, key, script.createCachedData());
    });
  }
  // Known to `require`: a chunk that is loaded later must find this run of the bundle and not start another.
  const module = new Module(bundle);
  module.filename = bundle;
  require.cache[bundle] = module;
  script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, dirname(bundle));
  module.loaded = true;
};

/** V8 refuses the cache of another V8 or of other flags by itself; the text of the bundle it compares by length alone. */
function keyOf(/** @type {string} */ bundle) {
  const { mtimeMs, size } = statSync(bundle);
  return `${process.version} ${size} ${mtimeMs}`;
}

/** Undefined where there is no home folder to keep it in. */
function cacheFileIn(/** @type {NodeJS.ProcessEnv} */ { OSTLER_HOME, XDG_CACHE_HOME, HOME }) {
  if (OSTLER_HOME) return join(OSTLER_HOME, "cache", "ask.v8");
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, ".cache"));
  return caches ? join(caches, "ostler", "ask.v8") : undefined;
}

/** The file is the key, a newline, and the cache twice: a damaged one crashes V8, and loading a checksum costs more. */
function readCache(/** @type {string} */ file, /** @type {string} */ key) {
  try {
    // It is code: what somebody else wrote is not run.
    if (statSync(file).uid !== process.getuid?.()) return undefined;
    const stored = readFileSync(file);
    const start = stored.indexOf("\n") + 1;
    const middle = (start + stored.length) / 2;
    const isWhole = stored.toString("latin1", 0, start) === `${key}\n` && Number.isInteger(middle);
    const data = stored.subarray(start, middle);
    return isWhole && data.equals(stored.subarray(middle)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function writeCache(/** @type {string} */ file, /** @type {string} */ key, /** @type {Buffer} */ data) {
  const unfinished = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(unfinished, Buffer.concat([Buffer.from(`${key}\n`), data, data]), { mode: 0o600 });
    renameSync(unfinished, file);
  } catch {
    // A folder that takes nothing costs the next start its speed, nothing else.
  }
}
