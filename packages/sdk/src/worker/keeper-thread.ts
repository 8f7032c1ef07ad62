// The thread that renews leases, so that no handler can starve them: it has a client of its own, and hears from the worker
// which leases to keep.
import { createClient } from '../client.ts'
import { steadyClock } from './clock.ts'
import { createLeaseKeeper, type HeldLease } from './lease-keeper.ts'
import { renewalsOver } from './renewals.ts'
import { type FromThread, nodeThreads, type ThreadData } from './threads.ts'

export type ToThread =
  | { readonly kind: 'keep'; readonly leases: readonly HeldLease[] }
  | { readonly kind: 'drop'; readonly leaseIds: readonly string[] }

const { parentPort, workerData } = nodeThreads()!
const port = parentPort!
const { wire, worker, ttlMs } = workerData as ThreadData // given by thread-keeper.ts alone
const say = (message: FromThread) => port.postMessage(message)

const client = createClient({
  url: wire.url,
  ...(wire.apiKey !== undefined && { apiKey: wire.apiKey }),
  retry: false,
})
const keeper = createLeaseKeeper({
  renew: renewalsOver(client, worker),
  ttlMs,
  clock: steadyClock,
  reports: {
    onLost: (leaseId, lost) => say({ kind: 'lost', leaseId, lost }),
    onRenewed: (count) => say({ kind: 'renewed', count }),
    onTrouble: (message) => say({ kind: 'trouble', message }),
  },
})

port.on('message', (message: ToThread) => {
  if (message.kind === 'keep') keeper.keep(message.leases)
  else keeper.drop(message.leaseIds)
})
say({ kind: 'ready' })
