// A run as a task. Everything in it but {{now}} follows from the schedule and the run time, so that whoever fires it, and how
// often, the server finds the same request under the same key.
import { hash } from 'node:crypto'
import type { Client } from '@asyncgate/sdk'
import type { Schedule } from './schedule.ts'
import { render } from './template.ts'

type NewTask = Parameters<Client['createTasks']>[0]['tasks'][number]

export function taskFor({ scheduleId, owner, definition, createdReceiptId }: Schedule, run: Run): NewTask {
  const { type, payload_template, requirements, priority } = definition.task_template
  const runAt = iso(run.at)
  return {
    type,
    payload: render(payload_template, { now: iso(run.now), run_at: runAt, schedule_id: scheduleId }),
    ...(requirements && { requirements }),
    priority,
    summary: definition.name,
    recipient: owner as NonNullable<NewTask['recipient']>, // whoever owns a task is no system
    idempotency_key: `schedule:${scheduleId}:${runAt}`,
    caused_by_receipt_id: createdReceiptId,
    metadata: { schedule_id: scheduleId, run_at: runAt },
    // Also without jitter: where this machine's clock is ahead, no worker starts before the time by the server's.
    not_before: iso(run.at + jitterMs(scheduleId, runAt, definition.jitter_seconds)),
  }
}

interface Run {
  readonly at: number
  readonly now: number
}

/** By chance, but the same chance for everybody. */
function jitterMs(scheduleId: string, runAt: string, jitterSeconds: number): number {
  const drawn = Number.parseInt(hash('sha256', `${scheduleId} ${runAt}`, 'hex').slice(0, 12), 16)
  return drawn % (jitterSeconds * 1_000 + 1)
}

export function iso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
