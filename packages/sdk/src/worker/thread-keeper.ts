// The worker's end of the renewing thread. Should the thread not start, or die, leases are kept from here instead.
import type { Worker as Thread } from 'node:worker_threads'
import type { HeldLease, KeeperReports, LeaseKeeper } from './lease-keeper.ts'
import type { ToThread } from './keeper-thread.ts'
import { type FromThread, nodeThreads, type ThreadData } from './threads.ts'

export interface ThreadKeeperParts {
  readonly data: ThreadData
  readonly reports: KeeperReports
  /** What keeps the leases when the thread has died. */
  readonly insteadOf: () => LeaseKeeper
}

/** Undefined where there are no threads, or none can be started. */
export async function startThreadKeeper(parts: ThreadKeeperParts): Promise<LeaseKeeper | undefined> {
  const threads = nodeThreads()
  if (!threads) return undefined
  try {
    const thread = new threads.Worker(threadFile(), { workerData: parts.data, name: 'asyncgate-leases' })
    await isReady(thread)
    return keepOn(thread, parts)
  } catch (error) {
    parts.reports.onTrouble(`no thread for renewals, a timer instead: ${String(error)}`)
    return undefined
  }
}

/** Sources run as they are, published files are JavaScript: the thread's has the extension of this one. */
function threadFile(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`./keeper-thread.${extension}`, import.meta.url)
}

function isReady(thread: Thread): Promise<void> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('the thread has ended'))
    thread.once('error', reject).once('exit', onExit)
    thread.once('message', () => {
      thread.off('error', reject).off('exit', onExit)
      resolve()
    })
  })
}

function keepOn(thread: Thread, { reports, insteadOf }: ThreadKeeperParts): LeaseKeeper {
  const held = new Map<string, HeldLease>()
  let substitute: LeaseKeeper | undefined
  let isClosed = false
  let dropping: string[] = []
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  const say = (message: ToThread) => thread.postMessage(message)

  thread.on('message', (message: FromThread) => {
    if (message.kind === 'renewed') reports.onRenewed(message.count)
    if (message.kind === 'trouble') reports.onTrouble(message.message)
    if (message.kind === 'lost' && held.delete(message.leaseId)) reports.onLost(message.leaseId, message.lost)
  })
  thread.on('error', (error) => reports.onTrouble(`the renewing thread failed: ${String(error)}`))
  thread.on('exit', () => {
    if (isClosed) return
    reports.onTrouble('the renewing thread has ended; a timer renews from now on')
    substitute = insteadOf()
    substitute.keep([...held.values()])
  })

  /** What is reported in one call ends together. A message for each took a fifth of a busy worker's time. */
  function sayDropped(): void {
    say({ kind: 'drop', leaseIds: dropping })
    dropping = []
  }

  return {
    keep(leases) {
      for (const lease of leases) held.set(lease.leaseId, lease)
      if (substitute) substitute.keep(leases)
      else say({ kind: 'keep', leases })
    },
    drop(leaseIds) {
      for (const leaseId of leaseIds) held.delete(leaseId)
      if (substitute) return substitute.drop(leaseIds)
      if (dropping.length === 0) queueMicrotask(sayDropped)
      dropping.push(...leaseIds)
    },
    close() {
      isClosed = true
      substitute?.close()
      void thread.terminate() // nobody needs to know when
    },
  }
}
