// Ends work that takes too long, whatever it is made of: V8 stops it, also in the midst of a regular expression. The price
// is a thread that watches, 0.3 ms for each call, so it is for work that could be slow.
import { createContext, Script } from 'node:vm'

const room = createContext({ work: null as (() => void) | null })
const script = new Script('work()')

/** False when it was ended before it was done. What the work throws is thrown. */
export function isDoneWithin(timeoutMs: number, work: () => void): boolean {
  room['work'] = work
  try {
    script.runInContext(room, { timeout: timeoutMs })
    return true
  } catch (error) {
    if (isTimeout(error)) return false
    throw error
  } finally {
    room['work'] = null
  }
}

function isTimeout(error: unknown): boolean {
  // An error of another realm, so that it is no instance of ours.
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
