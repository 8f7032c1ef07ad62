// The part of a shared store that keeps token buckets: all instances draw from the same ones.
import type { Draw, Rate } from '../engine/token-bucket.ts'

export interface TokenDraw {
  readonly bucket: string
  readonly rate: Rate
  /** As many as there are of so many; fewer than none gives some back. */
  readonly wanted: number
}

export interface TokenStore {
  /** In the order given; each bucket once. */
  drawTokens(tenantId: string, draws: readonly TokenDraw[], now: number): Promise<readonly Draw[]>
  /** Forgets buckets that are full, at most so many; how many they were. */
  pruneTokens?(now: number, limit: number): Promise<number>
}
