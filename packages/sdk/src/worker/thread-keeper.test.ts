// The renewing thread, when it cannot be had or dies: the leases are kept all the same.
import threads from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import type { HeldLease, LeaseKeeper } from './lease-keeper.ts'
import { startThreadKeeper } from './thread-keeper.ts'

const lease = (leaseId: string): HeldLease => ({ taskId: `task of ${leaseId}`, leaseId })
const data = {
  wire: { url: 'http://127.0.0.1:9', apiKey: undefined },
  worker: { worker_id: 'w' },
  ttlMs: 300_000,
}

afterEach(() => vi.restoreAllMocks())

function setUp() {
  const kept: HeldLease[] = []
  const troubles: string[] = []
  const substituted = Promise.withResolvers<void>()
  const substitute: LeaseKeeper = {
    keep: (leases) => void kept.push(...leases),
    drop: () => {},
    close: () => {},
  }
  const insteadOf = () => {
    substituted.resolve()
    return substitute
  }
  const reports = {
    onLost: () => {},
    onRenewed: () => {},
    onTrouble: (message: string) => void troubles.push(message),
  }
  return { kept, troubles, substituted: substituted.promise, parts: { reports, insteadOf } }
}

test('a thread that dies is replaced, and what it kept is kept on', async () => {
  const { kept, troubles, substituted, parts } = setUp()
  const started: threads.Worker[] = []
  const Thread = threads.Worker
  vi.spyOn(threads, 'Worker').mockImplementation(function start(...given) {
    const thread = new Thread(...given)
    started.push(thread)
    return thread
  })
  const keeper = await startThreadKeeper({ data, ...parts })
  keeper!.keep([lease('a'), lease('b')])
  keeper!.drop(['a'])
  await started[0]!.terminate()
  await substituted
  keeper!.keep([lease('c')])
  keeper!.close()
  expect(kept).toEqual([lease('b'), lease('c')])
  expect(troubles).toEqual(['the renewing thread has ended; a timer renews from now on'])
})

test('a thread that does not start is done without', async () => {
  const { troubles, parts } = setUp()
  // What no client can be made from ends the thread before it is ready.
  const wrong = { ...data, wire: { ...data.wire, url: undefined as unknown as string } }
  expect(await startThreadKeeper({ data: wrong, ...parts })).toBeUndefined()
  expect(troubles).toEqual([expect.stringContaining('no thread for renewals')])
})

test('where the runtime has no threads there is nothing to start', async () => {
  const { troubles, parts } = setUp()
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
  expect(await startThreadKeeper({ data, ...parts })).toBeUndefined()
  expect(troubles).toEqual([])
})
