// Hints between instances: what has become ready or has ended. They may be lost (poolers, outages); whoever waits also polls.
import { randomInt } from 'node:crypto'
import type { ClientConfig } from 'pg'
import type { Log } from '../../log.ts'
import type { Hint } from '../port.ts'
import { createHintLine } from './hint-line.ts'

/** A notification has a price for every instance: the first goes at once, those that follow it or its announcement soon go together. */
const PAUSE_MS = 5

export interface Hints {
  /** Nobody else is there to be told anything, or to tell. */
  isAlone(): boolean
  send(hint: Hint): void
  /**
   * Tells that something will be ready once a transaction has ended that is sent in this turn, and gives the number that it is
   * to hold until then: see announcements.ts. Null where nobody else is there, or something was told just now.
   */
  announce(tenantId: string): number | null
  /** The number of what was announced last, if it was for this tenant and nobody has taken it. */
  takeAnnounced(tenantId: string): number | null
  listen(listener: (hint: Hint) => void): () => void
  close(): Promise<void>
}

export function createHints({ config, log }: { config: ClientConfig; log: Log | undefined }): Hints {
  const listeners = new Set<(hint: Hint) => void>()
  const waiting = new Map<string, Hint>()
  let pause: NodeJS.Timeout | null = null
  let said: (Announcement & { readonly at: number }) | null = null
  let heard: Announcement | null = null
  const line = createHintLine({
    config,
    log,
    onMessage: (message) => {
      const announcement = announcementFrom(message)
      // A pooler makes it seem to come from another.
      if (announcement !== null && announcement.number === said?.number) return
      if (announcement !== null) heard = announcement
      const hint = announcement === null ? hintFrom(message) : comingFrom(announcement)
      for (const listener of listeners) listener(hint)
    },
  })

  function flush(): void {
    pause = waiting.size === 0 ? null : setTimeout(flush, PAUSE_MS).unref()
    if (waiting.size === 0) return
    line.say([...waiting.values()].map(messageOf))
    waiting.clear()
  }

  /** Its announcement went before it. That is known of what is ready alone. */
  function isAnnounced({ tenantId, delayed, ended }: Hint): boolean {
    return tenantId === said?.tenantId && wasJustNow(said.at) && !delayed && !ended
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
      if (pause === null && isAnnounced(hint)) pause = setTimeout(flush, PAUSE_MS).unref()
      else if (pause === null) flush()
    },
    announce: (tenantId) => {
      if (pause !== null || (said !== null && wasJustNow(said.at)) || line.isAlone()) return null
      const number = randomInt(NUMBERS)
      said = { number, tenantId, at: performance.now() }
      // Once the transaction is on its way: whoever hears of it sooner than the database would look in vain.
      setImmediate(() => line.say([`soon ${number} ${tenantId}`]))
      return number
    },
    takeAnnounced: (tenantId) => {
      if (heard?.tenantId !== tenantId) return null
      const { number } = heard
      heard = null
      return number
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

function wasJustNow(at: number): boolean {
  return performance.now() < at + PAUSE_MS
}

interface Announcement {
  readonly number: number
  readonly tenantId: string
}

/** So many that no two that are under way have the same. */
const NUMBERS = 10 ** 9
const ANNOUNCEMENT = /^soon (\d{1,9}) (.+)$/s

function announcementFrom(message: string): Announcement | null {
  const [, number, tenantId] = ANNOUNCEMENT.exec(message) ?? []
  return number === undefined || tenantId === undefined ? null : { number: Number(number), tenantId }
}

function comingFrom({ tenantId }: Announcement): Hint {
  return { tenantId, ready: true, delayed: false, ended: false }
}

function messageOf({ tenantId, ready, delayed, ended }: Hint): string {
  return `${Number(ready)} ${Number(delayed)} ${Number(ended)} ${tenantId}`
}

function hintFrom(message: string): Hint {
  const [ready, delayed, ended, ...tenant] = message.split(' ')
  return { tenantId: tenant.join(' '), ready: ready === '1', delayed: delayed === '1', ended: ended === '1' }
}
