// Tasks for people to read.
import type { GateContract, Reply } from '@asyncgate/sdk'
import type { View } from './server-call.ts'
import { type Column, renderFacts, renderTable } from './table.ts'
import { type Paint, relativeTime, safe, safeLines } from './text.ts'

export type Task = Reply<GateContract['getTask']>
export type TaskPage = Reply<GateContract['listTasks']>

const STYLES = {
  queued: 'cyan',
  leased: 'yellow',
  running: 'yellow',
  succeeded: 'green',
  failed: 'red',
  canceled: 'dim',
} as const satisfies Record<Task['status'], Parameters<Paint>[0]>

export const styleOf = (status: Task['status']) => STYLES[status]

export function isTerminal({ status }: Pick<Task, 'status'>): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'canceled'
}

export function taskTable({ tasks, next_cursor: cursor }: TaskPage, view: View): string {
  if (tasks.length === 0) return 'No tasks match. Create one with "asyncgate task create --type echo".'
  const columns: Column<Task>[] = [
    { title: 'TASK', text: (task) => task.task_id },
    { title: 'STATUS', text: statusText, style: (task) => STYLES[task.status] },
    { title: 'TYPE', text: (task) => task.type, shrinks: true },
    { title: 'ATTEMPT', text: (task) => `${attemptOf(task)}/${task.max_attempts}` },
    { title: 'CREATED', text: (task) => relativeTime(task.created_at, view.now) },
    { title: 'ABOUT', text: aboutText, shrinks: true },
  ]
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${renderTable(tasks, columns, view)}${more}`
}

/** As people count: one that is under way, or that succeeded, is one too. The wire counts failures alone. */
function attemptOf({ status, attempt }: Task): number {
  return ['leased', 'running', 'succeeded'].includes(status) ? attempt + 1 : attempt
}

function statusText({ status, dead_letter: deadLetter }: Task): string {
  return deadLetter ? `${status} (dead letter)` : status
}

function aboutText(task: Task): string {
  return progressText(task.progress) || task.summary || ''
}

export function progressText(progress: unknown): string {
  if (progress === null || typeof progress !== 'object') return ''
  const { percent, message } = progress as { percent?: unknown; message?: unknown }
  const parts = [typeof percent === 'number' ? `${percent}%` : '', typeof message === 'string' ? message : '']
  return parts.filter((part) => part !== '').join(' ') || JSON.stringify(progress)
}

/** `lastError`: what the attempt before failed with, while it waits for the next. */
export function taskFacts(task: Task, { paint, now }: View, lastError: unknown = null): string {
  const time = (iso: string | null) => (iso === null ? null : `${relativeTime(iso, now)} (${iso})`)
  const principal = (who: Task['created_by']) => safe(`${who.principal_kind}/${who.principal_id}`)
  const lease =
    task.lease && `${safe(task.lease.worker_id)}, expires ${relativeTime(task.lease.expires_at, now)}`
  const waits = isWaiting(task, now)
  const facts: [string, string | null][] = [
    ['task', task.task_id],
    ['status', paint(STYLES[task.status], statusText(task))],
    ['type', safe(task.type)],
    ['summary', task.summary && safe(task.summary)],
    ['owner', principal(task.created_by)],
    ['recipient', principal(task.recipient)],
    ['created', time(task.created_at)],
    [task.attempt > 0 ? 'next attempt' : 'eligible', waits ? time(task.next_eligible_at) : null],
    ['deadline', time(task.deadline_at)],
    ['started', time(task.started_at)],
    ['ended', time(task.completed_at)],
    [
      'attempts',
      `${attemptOf(task)} of ${task.max_attempts}${task.expiries ? `, ${task.expiries} leases lost` : ''}`,
    ],
    ['last error', jsonText(lastError)],
    ['leased to', lease],
    ['progress', safe(progressText(task.progress))],
    ['payload', jsonText(task.payload)],
    ['obligation', task.assigned_receipt_id],
  ]
  return renderFacts([...facts, ...resultFacts(task)], paint)
}

/** For a time: a delay, or the backoff after a failure. */
export function isWaiting({ status, next_eligible_at: eligible }: Task, now: number): boolean {
  return status === 'queued' && Date.parse(eligible) > now
}

export function resultFacts({ task_id: taskId, result }: Task): [string, string | null][] {
  if (result === null) return []
  const { outcome, artifacts } = result
  const pointers = artifacts.map((artifact) => (artifact as { pointer?: unknown }).pointer) // objects, by the contract
  const isElsewhere =
    result.result === null &&
    pointers.some((pointer) => typeof pointer === 'string' && !pointer.startsWith('asyncgate:'))
  const shown = isElsewhere ? `see "asyncgate task result ${taskId}"` : jsonText(result.result)
  return [
    ['result', outcome === 'succeeded' ? shown : null],
    ['error', jsonText(result.error)],
    ['artifacts', artifacts.length > 0 ? jsonText(artifacts) : null],
  ]
}

export function jsonText(value: unknown): string | null {
  return value == null ? null : safeLines(JSON.stringify(value, null, 2))
}
