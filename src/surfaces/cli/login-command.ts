/** `ostler login BACKEND`: signs in by the harness's own login at this terminal, and sees whether that took. */
import { resolve } from "node:path";
import type { AuthMethod } from "../../acp/negotiate.ts";
import { EXIT, KINDS } from "../../errors/kinds.ts";
import { cleanLine } from "../../errors/redact.ts";
import { checkBackendName } from "../../host/backend-names.ts";
import { loadConfig } from "../../host/config.ts";
import { shellLine } from "../../host/finding.ts";
import { createHost } from "../../host/host.ts";
import type { Host, OpenedRuntime } from "../../host/host-options.ts";
import { loginAdvice, loginWords } from "../../host/inspect-login.ts";
import { checkLogin, decideLogin, knownAgent, runLogin } from "../../host/login.ts";
import type { LoginWay } from "../../host/login.ts";
import { UsageError } from "../../host/usage-error.ts";
import { renderCard } from "../shared/card.ts";
import { signalExitCode } from "../shared/exit-code.ts";
import { failureCard } from "../shared/failure-card.ts";
import { failureFor } from "./boundary.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { LOGIN_OPTIONS } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";

const MAX_SENTENCE_CHARS = 1000;

export async function login(argv: readonly string[], io: Io): Promise<number> {
  const { options, words } = parseArguments(argv, LOGIN_OPTIONS);
  const [name, ...more] = words;
  if (name === undefined || more.length > 0)
    throw new UsageError("Say which agent to sign in to: ostler login claude, ostler login codex or ostler login kiro");
  using interrupt = new Interrupt(io);
  const stderr = new BatchedOutput(io.stderr);
  const say = (sentence: string): void => stderr.write(`${cleanLine(sentence, MAX_SENTENCE_CHARS)}\n`);
  const { env, cwd } = io;
  const { signal } = interrupt;
  const configFile = options.config === undefined ? {} : { configFile: resolve(cwd, options.config) };
  try {
    const loaded = await loadConfig({ cwd, env, signal, ...configFile });
    for (const warning of loaded.warnings) say(warning);
    checkBackendName(loaded.config, name);
    await using host = await createHost({ loaded, env, cwd, log: io.log.write });
    const { selected, backend, command } = knownAgent(host, name, { env, cwd });
    const agent = await startAgent(host, name, signal);
    interrupt.kill = () => agent?.runtime.kill();
    const methods = agent?.runtime.authMethods ?? [];
    const way = decideLogin(methods, loginWords(backend.profile, command, io), options.method);
    // Who names a method that needs no terminal may be a program.
    const needsNoTerminal = way?.via === "agent" && options.method !== undefined;
    if (way === undefined || !(isTerminal(io) || needsNoTerminal)) {
      if (backend.needsNoLogin === true) {
        say(`${backend.label} needs no login`);
        return EXIT.completed;
      }
      say(
        way?.via === "command"
          ? `Sign in at a terminal: ${shellLine(way.words, env)}`
          : loginAdvice({ backend, command }, io),
      );
      return KINDS.auth.exit;
    }
    for (const other of othersThan(way, methods)) say(`Another way: ostler login ${name} --method ${other}`);
    if (way.via === "agent") {
      say(`${backend.label} signs in by "${way.id}"`);
      await agent?.runtime.authenticate(way.id);
      await agent?.runtime.stop();
    } else {
      await agent?.runtime.stop();
      say(`Running ${shellLine(way.words, env)}`);
      await stderr.finish();
      const code = await runLogin(way.words, { env, cwd, signal });
      if (interrupt.received !== undefined) return signalExitCode(interrupt.received);
      if (code !== 0) say(code === null ? "The login could not be run" : `The login ended with code ${code}`);
    }
    const check = await checkLogin(selected, { loaded, env, cwd, signal });
    say(check.sentence);
    if (check.isSignedIn) return EXIT.completed;
    return check.failure === undefined ? KINDS.auth.exit : KINDS[check.failure.kind].exit;
  } catch (error) {
    if (interrupt.received !== undefined) return signalExitCode(interrupt.received);
    if (!(error instanceof Error && "failure" in error)) throw error;
    const failure = failureFor(error);
    for (const line of renderCard(failureCard(failure))) stderr.write(`${line}\n`);
    return KINDS[failure.kind].exit;
  } finally {
    await stderr.finish();
  }
}

/** Undefined for an agent that does not even start before somebody has signed in (kiro wire notes, section 4). */
async function startAgent(host: Host, backend: string, signal: AbortSignal): Promise<OpenedRuntime | undefined> {
  try {
    return await host.openRuntime({ backend, takesLogins: true, signal });
  } catch (error) {
    if (error instanceof Error && "failure" in error && failureFor(error).kind === "auth") return undefined;
    throw error;
  }
}

function othersThan(way: LoginWay, methods: readonly AuthMethod[]): string[] {
  return methods.filter(({ id }) => id !== way.id).map(({ id }) => id);
}

function isTerminal({ stdin, stderr }: Io): boolean {
  return stdin.kind === "terminal" && stderr.isTTY === true;
}
