// Who can take part, loaded only when it does: a peer that isn't installed spoils nobody else's run.
import type { OpenQueue } from '../players/queue.ts'

export const openers = {
  asyncgate: async () => (await import('./asyncgate.ts')).openAsyncGate,
  sdk: async () => (await import('./asyncgate-sdk.ts')).openAsyncGateSdk,
  'pg-boss': async () => (await import('./pg-boss.ts')).openPgBoss,
  graphile: async () => (await import('./graphile.ts')).openGraphile,
  bullmq: async () => (await import('./bullmq.ts')).openBullmq,
  plainjob: async () => (await import('./plainjob.ts')).openPlainjob,
} satisfies Record<string, () => Promise<OpenQueue>>

export type ContenderName = keyof typeof openers
/** `no-ledger` is AsyncGate itself, in a build that exists for the comparison alone. */
export type PeerName = Exclude<ContenderName, 'asyncgate'> | 'no-ledger'
