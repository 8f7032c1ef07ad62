// Settings from environment variables. Unknown ASYNCGATE_ names are mistakes, but for those that others set.
import { KEYS, VARIABLE_PREFIX } from './keys.ts'
import { didYouMean } from './nearest.ts'
import type { Problem } from './problem.ts'
import { fromText, type Reading } from './setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Read by the commands that call a server, not by the server. */
const CLIENT_VARIABLES = new Set(['ASYNCGATE_URL', 'ASYNCGATE_API_KEY'])

/**
 * Kubernetes describes a service called "asyncgate" to every pod beside it in variables of these names, and
 * ASYNCGATE_PORT is then an address like tcp://10.0.0.7:8420. Nobody wrote them, so they are passed over.
 */
const SERVICE_VARIABLE = /^ASYNCGATE_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/
const SERVICE_ADDRESS = /^(tcp|udp):\/\//

const byVariable = new Map(KEYS.map((key) => [key.variable, key]))

export function readEnvironment(env: Environment): Reading {
  const settings = []
  const problems = []
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith(VARIABLE_PREFIX) || isForOthers(name, text)) continue
    const key = byVariable.get(name)
    if (key) {
      settings.push({ key, value: fromText(key, text), origin: { source: 'env' as const, where: name } })
    } else {
      const hint = didYouMean(name, [...byVariable.keys(), ...CLIENT_VARIABLES])
      problems.push({ where: name, message: `No key has this variable.${hint || ' Unset it.'}` })
    }
  }
  return { settings, problems }
}

/** What a command that calls a server passes over, and a server refuses. */
export function unknownVariables(env: Environment): readonly Problem[] {
  return readEnvironment(env).problems
}

function isForOthers(name: string, text: string): boolean {
  if (CLIENT_VARIABLES.has(name) || SERVICE_VARIABLE.test(name)) return true
  return name === 'ASYNCGATE_PORT' && SERVICE_ADDRESS.test(text)
}
