/** Who is signed in, as the agent pushes it (`_auth/status_update`; seed document 002, JetBrains shared keys). Pure. */
import { cleanLine } from "../errors/redact.ts";
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";

/** The last word of an agent about its login. */
export interface AuthStatus {
  /** `none`, `api_key`, `gateway`, or the agent's own word. */
  readonly kind: string;
  /** For people, scrubbed: `Anthropic API key`. */
  readonly label: string;
}

export const AUTH_STATUS_UPDATE = "_auth/status_update";

const MAX_LABEL_CHARS = 400;
const MAX_KIND_CHARS = 60;

/** Reads the params of the notification; undefined when they do not say who is signed in. */
export function readAuthStatus(params: unknown): AuthStatus | undefined {
  const status = isObject(params) ? params["authStatus"] : undefined;
  const kind = isObject(status) ? str(status["kind"]) : undefined;
  if (!isObject(status) || kind === undefined) return undefined;
  const label = str(status["label"]) ?? kind;
  return { kind: cleanLine(kind, MAX_KIND_CHARS), label: cleanLine(label, MAX_LABEL_CHARS) };
}
