// This thread's end of another one, which answers what it is asked in the order that it is asked. It is started when it is
// needed first: a server that has little to do never has it.
import { Worker } from 'node:worker_threads'

export interface Thread<Question, Answer> {
  /** Rejects when the thread has failed or ended: nobody can say then what became of it. */
  ask(question: Question): Promise<Answer>
  /** Whatever it has open is closed: only the last connection to be closed removes the log. */
  close(): Promise<void>
}

export interface ThreadOptions {
  /** The file beside this one that it runs, without its extension. */
  readonly module: string
  /** What it does, for whoever hears that it has ended. */
  readonly task: string
  readonly data: unknown
}

interface Running<Answer> {
  readonly worker: Worker
  /** Its own: what one that has failed may still say must not be taken for an answer of the next. */
  readonly asked: PromiseWithResolvers<Answer>[]
}

export function createThread<Question, Answer>(options: ThreadOptions): Thread<Question, Answer> {
  const { module, task, data } = options
  let running: Running<Answer> | null = null
  let isClosed = false

  function start(): Running<Answer> {
    // Without what this process was started with: none of it is meant for this thread.
    const worker = new Worker(moduleFile(module), { workerData: data, name: module, execArgv: [] })
    const started: Running<Answer> = { worker, asked: [] }
    const fail = (error: unknown) => {
      if (running === started) running = null
      for (const { reject } of started.asked.splice(0)) reject(error)
    }
    // Its answers are made by that module alone.
    worker.on('message', (answer: Answer) => started.asked.shift()?.resolve(answer))
    worker.on('messageerror', fail)
    worker.on('error', fail)
    worker.on('exit', () => fail(hasEnded()))
    return started
  }

  function hasEnded(): Error {
    return new Error(`the thread that ${task} has ended`)
  }

  return {
    ask: async (question) => {
      if (isClosed) throw hasEnded()
      const answered = Promise.withResolvers<Answer>()
      const { worker, asked } = (running ??= start())
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(question)
      asked.push(answered)
      // While it is asked for something it keeps the process alive, and not otherwise.
      worker.ref()
      try {
        return await answered.promise
      } finally {
        if (asked.length === 0) worker.unref()
      }
    },
    close: async () => {
      isClosed = true
      await running?.worker.terminate()
    },
  }
}

/** Sources run as they are, published files are JavaScript: a thread's has the extension of this one. */
function moduleFile(module: string): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`./${module}.${extension}`, import.meta.url)
}
