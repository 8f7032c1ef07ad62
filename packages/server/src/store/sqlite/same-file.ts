// Which file a path stood for. A thread opens its connection later than the others did, and must not be led to another file by
// then: what belongs to one would be written into the other.
import { statSync } from 'node:fs'

export interface KnownFile {
  readonly path: string
  readonly dev: bigint
  readonly ino: bigint
}

/** Of a file that has just been opened. */
export function knownFile(path: string): KnownFile {
  const { dev, ino } = statSync(path, { bigint: true })
  return { path, dev, ino }
}

export function requireSameFile({ path, dev, ino }: KnownFile): void {
  const found = statSync(path, { bigint: true })
  if (found.dev !== dev || found.ino !== ino)
    throw new Error(`${path} is not the file any more that is in use`)
}
