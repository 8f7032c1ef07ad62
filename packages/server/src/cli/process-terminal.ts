// The real world for commands: this process's streams, files, signals and network.
import { createWriteStream } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createClient } from '@asyncgate/sdk'
import { systemClock } from '../clock.ts'
import { processEnvironment } from '../config.ts'
import { UsageError } from './failure.ts'
import type { Screen, Terminal } from './terminal.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** What a shell reports of a program that ended by the signal: 128 and its number. */
const SIGNAL_EXIT_CODES = { SIGTERM: 143, SIGINT: 130 } as const

export function processTerminal(): Terminal {
  const cwd = process.cwd()
  return {
    out: screenOf(process.stdout),
    err: screenOf(process.stderr),
    env: processEnvironment(),
    cwd,
    now: () => systemClock.now(),
    readFile: (path) => readText(resolve(cwd, path)),
    readStdin: () => text(process.stdin),
    readSecret,
    save: (path, content) =>
      path === null
        ? pipeline(content, process.stdout, { end: false })
        : saveWhole(resolve(cwd, path), content),
    connect: (settings, { patient = false } = {}) =>
      createClient(patient ? settings : { ...settings, retry: false }),
    onStopSignal(listener) {
      for (const signal of SIGNALS) process.on(signal, listener)
      return () => {
        for (const signal of SIGNALS) process.off(signal, listener)
      }
    },
    onReloadSignal: (listener) => void process.on('SIGHUP', listener),
    abort: (signal) => process.exit(SIGNAL_EXIT_CODES[signal]),
  }
}

async function readSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) return (await text(stdin)).replace(/\r?\n$/, '')
  // What is typed is echoed into nothing; the rest (backspace, Ctrl-C) is as at any prompt.
  const asking = createInterface({
    input: stdin,
    output: new Writable({ write: (_chunk, _encoding, done) => done() }),
    terminal: true,
  })
  stderr.write(prompt)
  asking.on('SIGINT', () => process.exit(SIGNAL_EXIT_CODES.SIGINT))
  try {
    return await asking.question('')
  } finally {
    asking.close()
    stderr.write('\n')
  }
}

function screenOf(stream: NodeJS.WriteStream): Screen {
  const { isTTY = false } = stream as { isTTY?: boolean } // undefined for a file or a pipe, whatever its type says
  // `asyncgate task list | head` closes the pipe early: that is no error of ours.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  return {
    isTTY,
    columns: isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY,
    write: (output) => void stream.write(output),
  }
}

/** Beside its place until it is whole: what is under the name can be relied on. */
async function saveWhole(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${path}.part`
  try {
    await pipeline(content, createWriteStream(partial))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    if (error instanceof Error && 'syscall' in error)
      throw new UsageError(`${path} can't be written: ${error.message}`)
    throw error
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
