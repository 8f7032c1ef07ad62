// This thread's end of the one that writes the pages of the log back into the file. It is started when it is needed first: a
// server that has little to do never has it.
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { CheckpointFile, ToCheckpointThread } from './checkpoint-thread.ts'

export interface Checkpointer {
  /** Writes back what it can without waiting for anybody. */
  checkpoint(): Promise<void>
  /** The file is not in use by the thread any more: only the last connection to be closed removes the log. */
  close(): Promise<void>
}

/** Of a file that has just been opened. */
export function createCheckpointer(path: string): Checkpointer {
  const { dev, ino } = statSync(path, { bigint: true })
  const file: CheckpointFile = { path, dev, ino }
  let thread: Worker | null = null

  function start(): Worker {
    const started = new Worker(threadFile(), { workerData: file, name: 'asyncgate-checkpoints' })
    // Whoever has asked it for something hears of it; without a listener it would end this process.
    started.on('error', () => {})
    started.once('exit', () => (thread = null))
    return started
  }

  /** While it is asked for something it keeps the process alive, and not otherwise. */
  async function ask(asked: Worker, message: ToCheckpointThread, answer: 'message' | 'exit'): Promise<void> {
    asked.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    asked.postMessage(message)
    await once(asked, answer)
    asked.unref()
  }

  return {
    checkpoint: () => ask((thread ??= start()), 'checkpoint', 'message'),
    close: async () => {
      // One that fails has ended, too.
      if (thread !== null) await ask(thread, 'close', 'exit').catch(() => {})
    },
  }
}

/** Sources run as they are, published files are JavaScript: the thread's has the extension of this one. */
function threadFile(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`./checkpoint-thread.${extension}`, import.meta.url)
}
