// A terminal for tests: remembers what was written, answers with a client of the test's own.
import type { Client } from '@asyncgate/sdk'
import type { Screen, Terminal } from '../src/cli/terminal.ts'

export interface TestTerminal extends Terminal {
  readonly shown: () => { out: string; err: string }
}

export interface TerminalParts {
  readonly client?: object
  readonly env?: Record<string, string>
  readonly isTTY?: boolean
  readonly columns?: number
  readonly now?: number
  readonly stdin?: string
  readonly files?: Readonly<Record<string, string>>
}

export function testTerminal(parts: TerminalParts = {}): TestTerminal {
  const { isTTY = false, columns = isTTY ? 80 : Number.POSITIVE_INFINITY, files = {} } = parts
  const written = { out: '', err: '' }
  const screen = (name: 'out' | 'err'): Screen => ({
    isTTY,
    columns,
    write: (text) => {
      written[name] += text
    },
  })
  return {
    out: screen('out'),
    err: screen('err'),
    env: parts.env ?? {},
    cwd: '/nowhere',
    now: () => parts.now ?? 0,
    readFile: async (path) => files[path] ?? '',
    readStdin: async () => parts.stdin ?? '',
    readSecret: async () => parts.stdin ?? '',
    save: async (path, content) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of content) chunks.push(chunk)
      written.out += `${path ?? ''}<${Buffer.concat(chunks).toString()}>`
    },
    // Tests give the methods that the command calls and no others.
    connect: () => (parts.client ?? {}) as Client,
    onStopSignal: () => () => {},
    onReloadSignal: () => {},
    abort: () => {},
    shown: () => ({ ...written }),
  }
}
