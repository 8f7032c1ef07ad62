// SIGTERM and SIGINT, where the runtime has them.

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Calls back at the first one; a second one then ends the process as if nobody listened. The returned function stops it. */
export function onStopSignals(stop: () => void): () => void {
  const { process } = globalThis
  if (typeof process?.on !== 'function') return () => {}
  const ignore = () => {
    for (const signal of SIGNALS) process.off(signal, listener)
  }
  const listener = () => {
    ignore()
    stop()
  }
  for (const signal of SIGNALS) process.on(signal, listener)
  return ignore
}
