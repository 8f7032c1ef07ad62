// The bench's side of the wire to a player: starts the process, asks, awaits answers.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Acts } from '../players/acts.ts'
import type { Lab } from './lab.ts'

export interface Question {
  readonly id: number
  readonly act: string
  readonly input: unknown
}

export type Answer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly progress: string }

export interface Player<A extends Acts> {
  readonly pid: number
  ask<K extends keyof A & string>(act: K, ...input: Parameters<A[K]>): Promise<Awaited<ReturnType<A[K]>>>
  stop(): Promise<void>
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

export type PlayerScript = 'queue-player' | 'waiting-player' | 'calling-player'

export function startPlayer<A extends Acts>(lab: Lab, script: PlayerScript): Player<A> {
  const child = fork(join(import.meta.dirname, '../players', `${script}.ts`), [], {
    serialization: 'advanced',
    // Graphile Worker logs a line per job unless told otherwise here.
    env: { ...process.env, NO_LOG_SUCCESS: '1', NODE_ENV: 'production' },
  })
  const exited = once(child, 'exit')
  const awaited = new Map<number, Waiting>()
  let asked = 0

  child.on('message', (answer: Answer) => {
    if ('progress' in answer) return lab.progress(answer.progress)
    const waiting = awaited.get(answer.id)
    awaited.delete(answer.id)
    if ('error' in answer) waiting?.reject(new Error(`a player failed: ${answer.error}`))
    else waiting?.resolve(answer.result)
  })
  child.on('exit', () => {
    for (const { reject } of awaited.values()) reject(new Error(`${script} ended early`))
  })

  const stop = lab.onClose(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
  })
  return {
    pid: child.pid ?? 0,
    ask: (act, ...[input]) =>
      new Promise((resolve, reject) => {
        // The player answers with what its act of that name resolved to.
        const settle = { resolve: resolve as (result: unknown) => void, reject }
        asked += 1
        awaited.set(asked, settle)
        child.send({ id: asked, act, input } satisfies Question)
      }),
    stop,
  }
}
