import { nearestName } from "../../errors/nearest-name.ts";
import { UsageError } from "../../host/usage-error.ts";

/** What is thrown for words that no form of a command fits: with the nearest action where one was mistyped, else the usage. */
export function unknownAction(
  command: string,
  words: readonly string[],
  { actions, usage }: { readonly actions: readonly string[]; readonly usage: string },
): UsageError {
  const [action = "", ...rest] = words;
  const nearest = actions.includes(action) ? undefined : nearestName(action, actions);
  const hint = nearest === undefined ? usage : `did you mean ${["ostler", command, nearest, ...rest].join(" ")}?`;
  return new UsageError(`Cannot make sense of "${[command, ...words].join(" ")}"; ${hint}`);
}
