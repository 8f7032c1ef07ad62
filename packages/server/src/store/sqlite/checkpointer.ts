// This thread's end of the one that writes the pages of the log back into the file. It is started when it is needed first: a
// server that has little to do never has it.
import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { CheckpointFile, CheckpointKind } from './checkpoint-thread.ts'

export interface Checkpointer {
  /** One at a time. */
  checkpoint(kind: CheckpointKind): Promise<void>
  /** The file is not in use by the thread any more: only the last connection to be closed removes the log. */
  close(): Promise<void>
}

/** Of a file that has just been opened. */
export function createCheckpointer(path: string): Checkpointer {
  const { dev, ino } = statSync(path, { bigint: true })
  const file: CheckpointFile = { path, dev, ino }
  let thread: Worker | null = null
  let asked = Promise.withResolvers<void>()

  function start(): Worker {
    // Without what this process was started with: none of it is meant for this thread.
    const started = new Worker(threadFile(), {
      workerData: file,
      name: 'asyncgate-checkpoints',
      execArgv: [],
    })
    started.on('message', (trouble: unknown) => (trouble === null ? asked.resolve() : asked.reject(trouble)))
    started.on('error', (error) => asked.reject(error))
    started.on('exit', () => {
      thread = null
      asked.reject(new Error('the thread that writes back the log has ended'))
    })
    return started
  }

  return {
    checkpoint: async (kind) => {
      asked = Promise.withResolvers()
      const asking = (thread ??= start())
      // While it is asked for something it keeps the process alive, and not otherwise.
      asking.ref()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      asking.postMessage(kind)
      try {
        await asked.promise
      } finally {
        asking.unref()
      }
    },
    close: async () => void (await thread?.terminate()),
  }
}

/** Sources run as they are, published files are JavaScript: the thread's has the extension of this one. */
function threadFile(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`./checkpoint-thread.${extension}`, import.meta.url)
}
