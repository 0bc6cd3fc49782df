/** The secret with which the agent of one run, and nobody else, reaches the tools of that run. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** The prefix makes it a secret by its looks, so that it is scrubbed wherever it turns up (errors/redact.ts). */
const PREFIX = "ostler_mcp_";

/** A token that nobody guesses. */
export function newBearerToken(): string {
  return PREFIX + randomBytes(32).toString("base64url");
}

/** Compares in constant time. */
export function isSameToken(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
