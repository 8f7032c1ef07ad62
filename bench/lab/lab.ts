// Everything that a run starts and must not leave behind: processes, databases, folders. Whatever was opened is closed
// in reverse order, at the end, on an error, or on Ctrl-C.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Lab {
  /** A temporary folder on the same disk for everybody. */
  readonly folder: string
  /** Registers what undoes something; the function returned does it now, once. */
  onClose(undo: () => Promise<void>): () => Promise<void>
  progress(text: string): void
  close(): Promise<void>
  /** Whether `close` was called: what fails from then on fails for that reason. */
  closing(): boolean
}

export async function createLab(progress: (text: string) => void): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-bench-'))
  const undos: (() => Promise<void>)[] = []

  function onClose(undo: () => Promise<void>): () => Promise<void> {
    let undone: Promise<void> | undefined
    const once = () => {
      const at = undos.indexOf(once)
      if (at >= 0) undos.splice(at, 1)
      undone ??= undo()
      return undone
    }
    undos.push(once)
    return once
  }

  let closing = false

  async function close(): Promise<void> {
    closing = true
    for (let undo = undos.at(-1); undo !== undefined; undo = undos.at(-1)) {
      // One that fails must not keep the others from being undone.
      await undo().catch((error: unknown) => process.stderr.write(`bench: ${String(error)}\n`))
    }
  }

  onClose(() => rm(folder, { recursive: true, force: true }))
  return { folder, onClose, progress, close, closing: () => closing }
}
