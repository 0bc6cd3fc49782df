/** How big a page may be, in bytes of UTF-8 (failure observations, section 7.4). Data only. */

export type PageSurface = "list" | "output" | "result" | "incidents" | "raw" | "running" | "completion";

/** `list`: the failure text of one run in a list of runs. `raw`: evidence as it is. The last two are notifications. */
export const PAGE_BYTES: Readonly<Record<PageSurface, { readonly default: number; readonly max: number }>> = {
  list: { default: 200, max: 512 },
  output: { default: 4096, max: 65_536 },
  result: { default: 8192, max: 65_536 },
  incidents: { default: 2048, max: 65_536 },
  raw: { default: 16_384, max: 65_536 },
  running: { default: 2048, max: 4096 },
  completion: { default: 4096, max: 16_384 },
};

/** What was asked for, at most the surface's maximum; nothing asked for gives its default, nonsense no page at all. */
export function budgetOf(surface: PageSurface, maxBytes: number | undefined): number {
  const { default: usual, max } = PAGE_BYTES[surface];
  if (maxBytes === undefined) return usual;
  return maxBytes >= 0 ? Math.min(Math.floor(maxBytes), max) : 0;
}
