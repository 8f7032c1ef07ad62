// Node's threads, where there are any, and what is said between a worker and its renewing thread.
import type * as WorkerThreads from 'node:worker_threads'
import type { PlainWire } from '../client/wires.ts'
import type { LostLease } from './errors.ts'
import type { WorkerName } from './execution.ts'

export interface ThreadData {
  readonly wire: PlainWire
  readonly worker: WorkerName
  readonly ttlMs: number
}

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'lost'; readonly leaseId: string; readonly lost: LostLease }
  | { readonly kind: 'renewed'; readonly count: number }
  | { readonly kind: 'trouble'; readonly message: string }

/** Asked of the runtime and not imported: an import of Node's own would keep browsers from loading this package. */
export function nodeThreads(): typeof WorkerThreads | undefined {
  return globalThis.process?.getBuiltinModule?.('node:worker_threads')
}
