// Writing the pages of the log back into the file, in a thread of its own.
import type { CheckpointKind } from './checkpoint-thread.ts'
import { knownFile } from './same-file.ts'
import { createThread } from './thread.ts'

export interface Checkpointer {
  checkpoint(kind: CheckpointKind): Promise<void>
  close(): Promise<void>
}

/** Of a file that has just been opened. */
export function createCheckpointer(path: string): Checkpointer {
  const { ask, close } = createThread<CheckpointKind, unknown>({
    module: 'checkpoint-thread',
    task: 'writes back the log',
    data: knownFile(path),
  })
  return {
    checkpoint: async (kind) => {
      const trouble = await ask(kind)
      if (trouble !== null) throw trouble
    },
    close,
  }
}
