// Hints between instances: what has become ready or has ended. They may be lost (poolers, outages); whoever waits also polls.
import { randomInt } from 'node:crypto'
import type { ClientConfig } from 'pg'
import type { Log } from '../../log.ts'
import type { Hint } from '../port.ts'
import { createHintLine } from './hint-line.ts'

/**
 * A notification has a price for every instance: the first goes at once, those that follow it soon go together. What has been
 * announced follows its announcement.
 */
const PAUSE_MS = 5

export interface Hints {
  /** Nobody else is there to be told anything, or to tell. */
  isAlone(): boolean
  send(hint: Hint): void
  /**
   * Tells that something will be ready once a transaction has ended that is on its way now, and gives the number that it is
   * to hold until then: see announcements.ts. Null where nobody else is there, or something was told just now.
   */
  announce(tenantId: string): number | null
  /** The number of what others announced last for this tenant, if nobody has taken it. */
  takeAnnounced(tenantId: string): number | null
  listen(listener: (hint: Hint) => void): () => void
  close(): Promise<void>
}

export function createHints({ config, log }: { config: ClientConfig; log: Log | undefined }): Hints {
  const listeners = new Set<(hint: Hint) => void>()
  const waiting = new Map<string, Hint>()
  let pause: NodeJS.Timeout | null = null
  const instance = randomInt(NUMBERS)
  let announced: { readonly tenantId: string; readonly at: number } | null = null
  /** The numbers of what others announced, by tenant. */
  const heard = new Map<string, number>()
  const line = createHintLine({
    config,
    log,
    onMessage: (message) => {
      const announcement = announcementFrom(message)
      if (announcement === null) hear(hintFrom(message))
      // Behind a pooler, one's own messages seem to come from another.
      else if (announcement.instance !== instance) hearAnnounced(announcement)
    },
  })

  function hear(hint: Hint): void {
    heard.delete(hint.tenantId)
    tell(hint)
  }

  function hearAnnounced({ tenantId, number }: Announcement): void {
    if (heard.size >= HEARD_MAX) heard.clear()
    heard.set(tenantId, number)
    tell({ tenantId, ready: true, delayed: false, ended: false })
  }

  function tell(hint: Hint): void {
    for (const listener of listeners) listener(hint)
  }

  function flush(): void {
    pause = waiting.size === 0 ? null : setTimeout(flush, PAUSE_MS).unref()
    sayWaiting()
  }

  function sayWaiting(): void {
    if (waiting.size > 0) line.say([...waiting.values()].map(messageOf))
    waiting.clear()
  }

  function hasJustAnnounced(): boolean {
    return announced !== null && performance.now() < announced.at + PAUSE_MS
  }

  /** As a rule: of several commits at once, it may have been another. An announcement says only that something is ready. */
  function wasAnnounced({ tenantId, delayed, ended }: Hint): boolean {
    return hasJustAnnounced() && announced?.tenantId === tenantId && !delayed && !ended
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
      if (pause === null && wasAnnounced(hint)) pause = setTimeout(flush, PAUSE_MS).unref()
      else if (pause === null) flush()
    },
    announce: (tenantId) => {
      if (pause !== null || hasJustAnnounced() || line.isAlone()) return null
      announced = { tenantId, at: performance.now() }
      const number = randomInt(NUMBERS)
      // Once the transaction is on its way: whoever hears of it sooner than the database would look in vain.
      setImmediate(() => line.say([`soon ${instance} ${number} ${tenantId}`]))
      return number
    },
    takeAnnounced: (tenantId) => {
      const number = heard.get(tenantId) ?? null
      heard.delete(tenantId)
      return number
    },
    listen: (listener) => {
      line.open()
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => {
      if (pause !== null) clearTimeout(pause)
      sayWaiting()
      await line.close()
    },
  }
}

interface Announcement {
  readonly instance: number
  readonly number: number
  readonly tenantId: string
}

/** So many that no two that are under way have the same. */
const NUMBERS = 10 ** 9
const ANNOUNCEMENT = /^soon (\d{1,9}) (\d{1,9}) (.+)$/s

/** Forgotten beyond this: nobody has claimed anything for so many. */
const HEARD_MAX = 1_000

function announcementFrom(message: string): Announcement | null {
  const found = ANNOUNCEMENT.exec(message)
  return found && { instance: Number(found[1]), number: Number(found[2]), tenantId: found[3]! }
}

function messageOf({ tenantId, ready, delayed, ended }: Hint): string {
  return `${Number(ready)} ${Number(delayed)} ${Number(ended)} ${tenantId}`
}

function hintFrom(message: string): Hint {
  const [ready, delayed, ended, ...tenant] = message.split(' ')
  return { tenantId: tenant.join(' '), ready: ready === '1', delayed: delayed === '1', ended: ended === '1' }
}
