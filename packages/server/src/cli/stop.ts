// A worker in the foreground: a first signal lets it end, a second one ends the process.
import type { Worker } from '@asyncgate/sdk'
import type { Terminal } from './terminal.ts'

export async function runUntilStopped(
  worker: Pick<Worker, 'run' | 'stop'>,
  terminal: Terminal,
): Promise<void> {
  let isStopping = false
  const ignore = terminal.onStopSignal((signal) => {
    if (isStopping) return terminal.abort(signal)
    isStopping = true
    void worker.stop() // run() below tells when it has
  })
  await worker.run()
  ignore()
}
