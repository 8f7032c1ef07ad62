// What `dev` and `serve` say once they listen.
import type { Config } from '../config.ts'
import { hidePassword } from '../config.ts'
import { renderFacts } from './table.ts'
import type { Paint } from './text.ts'
import { VERSION } from '../version.ts'

export interface Listening {
  readonly url: string
  readonly host: string
  readonly port: number
}

/** The first line on stdout with --json, so that a program that started the server learns the port. */
export function listeningLine({ url, host, port }: Listening): string {
  return JSON.stringify({ event: 'listening', url, host, port })
}

export const DEVELOPMENT_WARNING =
  'DEVELOPMENT MODE: no credentials are asked for. Whoever reaches this address can do everything; it is loopback only.'

export function banner({ url }: Listening, { config, durability, beside, paint }: BannerFacts): string {
  const facts = renderFacts(
    [
      ['API', url],
      ['MCP', `${url}/mcp`],
      ['Docs', `${url}/docs`],
      ['Database', hidePassword(config.database.url)],
      ['Durability', durability],
      ['Worker', beside?.workerTypes.join(', ')],
      ['Scheduler', beside?.schedulerFile],
    ],
    paint,
  )
  const parts = [paint('bold', `AsyncGate ${VERSION}`), indent(facts)]
  if (config.auth.mode === 'dev')
    parts.push(indent(warning(paint)), indent(firstTask(url, beside !== undefined)))
  return `\n${parts.join('\n\n')}\n\n`
}

interface BannerFacts {
  readonly config: Config
  readonly durability: string
  /** What runs beside the server, if anything: the types that its worker takes, and the file of its scheduler. */
  readonly beside: { readonly workerTypes: readonly string[]; readonly schedulerFile: string } | undefined
  readonly paint: Paint
}

function warning(paint: Paint): string {
  const frame = paint(['yellow', 'bold'], '!'.repeat(72))
  const lines = [
    'DEVELOPMENT MODE: NO CREDENTIALS ARE ASKED FOR.',
    'Whoever reaches this address can read and change everything, so it is',
    'loopback only. For others: "asyncgate serve" with ASYNCGATE_AUTH_API_KEY.',
  ].map((line) => paint(['yellow', 'bold'], line))
  return [frame, ...lines, frame].join('\n')
}

function firstTask(url: string, hasWorker: boolean): string {
  const elsewhere = url.endsWith(':8420') ? '' : ` --url ${url}`
  const wait = hasWorker ? ' --wait' : ''
  return `Try, in another terminal:\n  npx asyncgate task create --type echo --payload '{"hello":"world"}'${wait}${elsewhere}\n  npx asyncgate obligations${elsewhere}`
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}
