// What the leader and the servers that it started say to each other.
import type { MetricsReading } from '../../metrics.ts'

export type ToLeader =
  /** `announcement` is what a server that is alone would print once it listens. */
  | { readonly kind: 'listening'; readonly announcement: string }
  /** Asks for the figures of all servers together. */
  | { readonly kind: 'figures-wanted'; readonly question: number }
  | { readonly kind: 'figures'; readonly question: number; readonly reading: MetricsReading }

export type ToMember =
  | { readonly kind: 'stop' }
  | { readonly kind: 'figures-wanted'; readonly question: number }
  | { readonly kind: 'all-figures'; readonly question: number; readonly text: string }
