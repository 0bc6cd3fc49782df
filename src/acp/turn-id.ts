/**
 * Ids of turns: unique over processes and restarts, not secret. Made without `node:crypto`, whose loading alone costs a
 * tenth of the start of a bare Node (docs/performance.md).
 */
const PROCESS = `${process.pid.toString(36)}-${Math.round(performance.timeOrigin * 1000).toString(36)}`;
let count = 0;

export function newTurnId(): string {
  count += 1;
  return `turn-${PROCESS}-${count}`;
}
