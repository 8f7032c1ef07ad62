// One of several servers behind one address: it tells its leader what it would otherwise tell the terminal, and asks it
// for what only all of them know together.
import cluster from 'node:cluster'
import type { Config } from '../../config.ts'
import type { MetricsReading } from '../../metrics.ts'
import type { Terminal } from '../terminal.ts'
import type { ToLeader, ToMember } from './messages.ts'

export interface Membership {
  /** The configuration with a name of this server's own. */
  readonly config: Config
  readonly terminal: Terminal
  /** The figures of all servers, as text. */
  figuresOfAll(): Promise<string>
  /** How this server answers when the leader asks for its own. */
  answerFigures(read: () => Promise<MetricsReading>): void
  /** The process would otherwise live on for what its leader may say. */
  leave(): void
}

/** Undefined in a process that serves alone. */
export function findMembership(config: Config, terminal: Terminal): Membership | undefined {
  const { worker } = cluster
  if (!worker) return undefined
  const tell = (message: ToLeader) => void worker.send(message)
  const listeners = new Set<(message: ToMember) => void>()
  worker.on('message', (message: ToMember) => {
    for (const listener of listeners) listener(message)
  })
  let questions = 0

  return {
    config:
      config.instanceId === 'auto' ? config : { ...config, instanceId: `${config.instanceId}-${worker.id}` },
    terminal: {
      ...terminal,
      out: { ...terminal.out, write: (announcement) => tell({ kind: 'listening', announcement }) },
      // Ctrl-C reaches every process of a terminal. The leader says who stops when, and asks once.
      onStopSignal(listener) {
        const onMessage = ({ kind }: ToMember) => {
          if (kind === 'stop') listener('SIGTERM')
        }
        listeners.add(onMessage)
        const ignore = terminal.onStopSignal(() => {})
        return () => {
          listeners.delete(onMessage)
          ignore()
        }
      },
    },
    figuresOfAll: () =>
      new Promise((resolve) => {
        const question = (questions += 1)
        const onMessage = (message: ToMember) => {
          if (message.kind !== 'all-figures' || message.question !== question) return
          listeners.delete(onMessage)
          resolve(message.text)
        }
        listeners.add(onMessage)
        tell({ kind: 'figures-wanted', question })
      }),
    leave: () => void worker.disconnect(),
    answerFigures(read) {
      listeners.add((message) => {
        if (message.kind !== 'figures-wanted') return
        void read().then((reading) => tell({ kind: 'figures', question: message.question, reading }))
      })
    },
  }
}
