// Sizes as people read them.

const UNITS = ['B', 'KiB', 'MiB', 'GiB']

/** `512 B`, `1.5 KiB`, `200 MiB`. */
export function sizeText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes === 0 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1_024 ** power
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${UNITS[power]}`
}
