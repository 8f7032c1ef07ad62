// A process that plays one side of a queue, producer or worker, for whichever contender it is told to be.
import { openers, type ContenderName } from '../contenders/openers.ts'
import { serveActs } from './acts.ts'
import { type ConsumeRequest, type ConsumerRun, startConsumer } from './consuming.ts'
import { addInBatches, addPaced, addSingly, type Load } from './producing.ts'
import type { Queue, Target } from './queue.ts'

let opened: Queue | undefined
let running: ConsumerRun | undefined

const acts = {
  async open({ contender, target }: { contender: ContenderName; target: Target }) {
    const open = await openers[contender]()
    opened = await open(target)
  },
  addSingly: (load: Load & { callers: number }) => addSingly(queue(), load),
  addInBatches: (load: Load & { callers: number; batchSize: number }) => addInBatches(queue(), load),
  addPaced: (load: Load & { perSecond: number }) => addPaced(queue(), load),
  async consume(request: ConsumeRequest) {
    running = await startConsumer(queue(), request)
  },
  /** Waits until everything expected is completed. */
  async consumed() {
    if (running === undefined) throw new Error('nothing is being consumed')
    try {
      return await running.consumed
    } finally {
      await running.stop()
      running = undefined
    }
  },
  unfinished: () => queue().unfinished(),
  async close() {
    await opened?.close()
    opened = undefined
  },
}

export type QueueActs = typeof acts

function queue(): Queue {
  if (opened === undefined) throw new Error('the queue is not open')
  return opened
}

serveActs(acts)
