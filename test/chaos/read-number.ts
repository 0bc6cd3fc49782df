/** A whole number from the environment; undefined when it is not given. Throws for anything else. */
export function readNumber(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  if (!/^\d+$/.test(text)) throw new Error(`${name} is a whole number, not ${text}`);
  return Number(text);
}
