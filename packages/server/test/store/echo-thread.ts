// A thread that says what it hears, and fails when it is told to: after its answers are on their way, and before they are read.
import { parentPort, workerData } from 'node:worker_threads'

const { failing } = workerData as { failing: Int32Array<SharedArrayBuffer> } // given by thread.test.ts alone
const port = parentPort!

port.on('message', (question: string) => {
  if (question !== 'fail') return port.postMessage(question)
  Atomics.store(failing, 0, 1)
  Atomics.notify(failing, 0)
  throw new Error('as it was told')
})
