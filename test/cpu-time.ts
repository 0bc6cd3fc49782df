/**
 * Processor time of this thread in milliseconds: for rows that say what something may cost, on a machine that does other
 * things as well.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
