// `serve --processes N`: this process serves nobody. It starts N servers that share one port, replaces one that dies, stops
// them together, and adds up their figures.
import cluster, { type Worker } from 'node:cluster'
import { systemClock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { ExitCode } from '../command.ts'
import type { Terminal } from '../terminal.ts'
import { createFigures } from './figures.ts'
import type { ToLeader, ToMember } from './messages.ts'

const REPLACE_AFTER_MS = 1_000

export interface LeaderParts {
  readonly count: number
  readonly terminal: Terminal
  readonly log: Log
}

export function leadProcesses({ count, terminal, log }: LeaderParts): Promise<ExitCode> {
  return new Promise((resolve) => {
    const members = new Map<number, Member>()
    let announced = false
    let stopping = false
    let code: ExitCode = 0

    function start(): void {
      const worker = cluster.fork()
      const member = { worker, listens: false, tell: (message: ToMember) => void worker.send(message) }
      members.set(worker.id, member)
      worker.on('message', (message: ToLeader) => onMessage(member, message))
      worker.on('exit', (exitCode, signal) => onExit(member, exitCode, signal))
    }

    const figures = createFigures(() => [...members.values()].filter(({ listens }) => listens))

    function onMessage(member: Member, message: ToLeader): void {
      if (message.kind !== 'listening') return figures.onMessage(member, message)
      member.listens = true
      if (announced || [...members.values()].some(({ listens }) => !listens)) return
      // Whoever reads the first line may call at once.
      announced = true
      terminal.out.write(message.announcement)
    }

    function onExit(member: Member, exitCode: number, signal: string): void {
      members.delete(member.worker.id)
      figures.onGone(member)
      if (!announced) stop() // it has said itself why it could not start
      if (stopping) {
        if (exitCode !== 0) code = 1
        if (members.size === 0) resolve(code)
        return
      }
      log.error(
        { pid: member.worker.process.pid, exitCode, signal },
        'a server process has died; starting another',
      )
      systemClock.after(REPLACE_AFTER_MS, () => {
        if (!stopping) start()
      })
    }

    function stop(): void {
      if (stopping) return
      stopping = true
      for (const { worker, tell } of members.values()) if (worker.isConnected()) tell({ kind: 'stop' })
    }

    terminal.onStopSignal((signal) => {
      if (!stopping) return stop()
      for (const { worker } of members.values()) worker.process.kill('SIGKILL')
      terminal.abort(signal)
    })
    for (let started = 0; started < count; started += 1) start()
  })
}

export interface Member {
  readonly worker: Worker
  listens: boolean
  tell(message: ToMember): void
}
