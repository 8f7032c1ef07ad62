// Hints between instances: what has become ready or has ended. They may be lost (poolers, outages); whoever waits also polls.
import type { ClientConfig } from 'pg'
import type { Log } from '../../log.ts'
import type { Hint } from '../port.ts'
import { createHintLine } from './hint-line.ts'

/** A notification has a price for every instance: the first goes at once, those that follow it soon go together. */
const PAUSE_MS = 5

export interface Hints {
  /** Nobody else is there to be told anything, or to tell. */
  isAlone(): boolean
  send(hint: Hint): void
  listen(listener: (hint: Hint) => void): () => void
  close(): Promise<void>
}

export function createHints({ config, log }: { config: ClientConfig; log: Log | undefined }): Hints {
  const listeners = new Set<(hint: Hint) => void>()
  const waiting = new Map<string, Hint>()
  let pause: NodeJS.Timeout | null = null
  const line = createHintLine({
    config,
    log,
    onMessage: (message) => {
      const hint = hintFrom(message)
      for (const listener of listeners) listener(hint)
    },
  })

  function flush(): void {
    pause = waiting.size === 0 ? null : setTimeout(flush, PAUSE_MS).unref()
    if (waiting.size === 0) return
    line.say([...waiting.values()].map(messageOf))
    waiting.clear()
  }

  return {
    isAlone: () => line.isAlone(),
    send: (hint) => {
      line.open()
      if (line.isAlone()) return
      const { tenantId } = hint
      const before = waiting.get(tenantId)
      waiting.set(tenantId, {
        tenantId,
        ready: hint.ready || before?.ready === true,
        delayed: hint.delayed || before?.delayed === true,
        ended: hint.ended || before?.ended === true,
      })
      if (pause === null) flush()
    },
    listen: (listener) => {
      line.open()
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => {
      if (pause !== null) clearTimeout(pause)
      await line.close()
    },
  }
}

function messageOf({ tenantId, ready, delayed, ended }: Hint): string {
  return `${Number(ready)} ${Number(delayed)} ${Number(ended)} ${tenantId}`
}

function hintFrom(message: string): Hint {
  const [ready, delayed, ended, ...tenant] = message.split(' ')
  return { tenantId: tenant.join(' '), ready: ready === '1', delayed: delayed === '1', ended: ended === '1' }
}
