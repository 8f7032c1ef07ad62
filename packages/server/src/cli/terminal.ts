// All that a command touches of the world, so that tests can run commands without a process.
import type { Client } from '@asyncgate/sdk'
import type { ClientSettings } from '../config/client.ts'
import type { Environment } from '../config.ts'

export interface Screen {
  readonly isTTY: boolean
  /** Width in characters; endless where nobody looks. */
  readonly columns: number
  write(text: string): void
}

export interface Terminal {
  readonly out: Screen
  readonly err: Screen
  readonly env: Environment
  readonly cwd: string
  readonly now: () => number
  readFile(path: string): Promise<string>
  readStdin(): Promise<string>
  /** Asked for without showing it; from a pipe its one line. */
  readSecret(prompt: string): Promise<string>
  /** Bytes as they are, to a file once all of them are there, or (null) to stdout. */
  save(path: string | null, content: AsyncIterable<Uint8Array>): Promise<void>
  /** A patient client waits for a server that has gone; others say so at once. */
  connect(settings: ClientSettings, options?: { patient?: boolean }): Client
  /** Calls back on SIGTERM and SIGINT; the returned function stops listening. */
  onStopSignal(listener: (signal: StopSignal) => void): () => void
  /** Calls back on SIGHUP, which otherwise would end the process. */
  onReloadSignal(listener: () => void): void
  /** Ends the process at once: for a second signal, or when something holds on beyond its time. */
  abort(signal: StopSignal): void
}

export type StopSignal = 'SIGTERM' | 'SIGINT'

/** Colours only where a person looks and has not asked for none (https://no-color.org). */
export function hasColour(screen: Screen, env: Environment): boolean {
  return screen.isTTY && !env.NO_COLOR && env.TERM !== 'dumb'
}
