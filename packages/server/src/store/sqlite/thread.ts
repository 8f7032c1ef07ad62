// This thread's end of another one, which answers what it is asked in the order that it is asked. It is started when it is
// needed first: a server that has little to do never has it.
import { Worker } from 'node:worker_threads'
import type { KnownFile } from './same-file.ts'

export interface Thread<Question, Answer> {
  /** Rejects when the thread has failed or ended: nobody can say then what became of it. */
  ask(question: Question): Promise<Answer>
  /** Whatever it has open is closed: only the last connection to be closed removes the log. */
  close(): Promise<void>
}

export interface ThreadOptions {
  /** The file beside this one that it runs, without its extension. */
  readonly module: string
  /** What it does, for its name and for whoever hears that it has ended. */
  readonly task: string
  readonly file: KnownFile
}

export function createThread<Question, Answer>(options: ThreadOptions): Thread<Question, Answer> {
  const { module, task, file } = options
  const asked: PromiseWithResolvers<Answer>[] = []
  let thread: Worker | null = null

  function start(): Worker {
    // Without what this process was started with: none of it is meant for this thread.
    const started = new Worker(moduleFile(module), { workerData: file, name: module, execArgv: [] })
    // Its answers are made by that module alone.
    started.on('message', (answer: Answer) => asked.shift()?.resolve(answer))
    started.on('error', failAll)
    started.on('exit', () => {
      thread = null
      failAll(new Error(`the thread that ${task} has ended`))
    })
    return started
  }

  function failAll(error: unknown): void {
    for (const { reject } of asked.splice(0)) reject(error)
  }

  return {
    ask: async (question) => {
      const answered = Promise.withResolvers<Answer>()
      const asking = (thread ??= start())
      // While it is asked for something it keeps the process alive, and not otherwise.
      asking.ref()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      asking.postMessage(question)
      asked.push(answered)
      try {
        return await answered.promise
      } finally {
        if (asked.length === 0) asking.unref()
      }
    },
    close: async () => void (await thread?.terminate()),
  }
}

/** Sources run as they are, published files are JavaScript: a thread's has the extension of this one. */
function moduleFile(module: string): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`./${module}.${extension}`, import.meta.url)
}
