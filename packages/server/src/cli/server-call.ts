// What the commands that call a server share: where it is, who one acts as, and how the reply is shown.
import type { GateContract, OperationKey, Reply } from '@asyncgate/sdk'
import { clientSettings } from '../config.ts'
import type { Options } from './command.ts'
import { UsageError } from './failure.ts'
import { hasColour, type Terminal } from './terminal.ts'
import { type Paint, painter } from './text.ts'

export const SERVER_OPTIONS = {
  as: {
    kind: 'text',
    shows: '<kind/id>',
    about: 'Act as this principal, e.g. agent/planner (admin keys and development mode).',
  },
  url: {
    kind: 'text',
    shows: '<url>',
    about: 'The server; default ASYNCGATE_URL, else http://127.0.0.1:8420.',
  },
  json: { kind: 'switch', about: 'Print the exact reply as JSON.' },
} as const satisfies Options

export interface ServerCall {
  readonly values: { readonly url?: string | undefined; readonly as?: string | undefined }
  readonly terminal: Terminal
  readonly patient?: boolean
}

export async function callServer<K extends OperationKey>(
  operation: K,
  input: Readonly<Record<string, unknown>>,
  call: ServerCall,
): Promise<Reply<GateContract[K]>> {
  const { client, acting } = clientOf(call)
  // Typed by people at a prompt, not by the compiler: the server's own parser judges it.
  const send = client[operation] as (input: object) => Promise<Reply<GateContract[K]>>
  return send({ ...input, ...acting })
}

/** The client, and whom to act as. */
export function clientOf({ values, terminal, patient = false }: ServerCall) {
  const client = terminal.connect(clientSettings(values, terminal.env), { patient })
  return { client, acting: actingAs(values.as) }
}

function actingAs(principal: string | undefined): Record<string, string> {
  if (principal === undefined) return {}
  const { kind, id } = principalOf('--as', principal)
  return { principal_kind: kind, principal_id: id }
}

/** `agent/planner`; ids may hold slashes of their own. */
export function principalOf(option: string, text: string): { kind: string; id: string } {
  const slash = text.indexOf('/')
  const [kind, id] = [text.slice(0, slash), text.slice(slash + 1)]
  if (slash > 0 && id !== '') return { kind, id }
  throw new UsageError(`${option} can't be "${text}". Give kind/id, e.g. agent/planner.`)
}

export interface View {
  readonly paint: Paint
  readonly columns: number
  readonly now: number
}

function viewOf(terminal: Terminal): View {
  const { out, env } = terminal
  return { paint: painter(hasColour(out, env)), columns: out.columns, now: terminal.now() }
}

/** JSON for programs, else text for people. */
export function show<R>(reply: R, text: (reply: R, view: View) => string, call: ShownCall): void {
  const { out } = call.terminal
  if (call.values.json) out.write(`${JSON.stringify(reply, null, out.isTTY ? 2 : undefined)}\n`)
  else out.write(`${text(reply, viewOf(call.terminal))}\n`)
}

export interface ShownCall {
  readonly values: { readonly json?: boolean | undefined }
  readonly terminal: Terminal
}
