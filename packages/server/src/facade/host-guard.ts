// Keeps web pages from driving a server that their visitor can reach (DNS rebinding, cross-site requests): the
// Host must be one of ours, and so must the Origin where a browser sends one (MCP-1).
import type { IncomingHttpHeaders } from 'node:http'
import { GateError } from '@asyncgate/sdk'

const LOOPBACK_HOSTNAMES = ['localhost', '127.0.0.1', '[::1]']

export interface HostGuardSettings {
  /** Bound to loopback: then the loopback names are allowed, and no others but `allowedHosts`. */
  readonly loopback: boolean
  /** Names that the server is reached by, without ports. */
  readonly allowedHosts?: readonly string[]
  /** Origins whose pages may call (http.cors_origins). */
  readonly corsOrigins?: readonly string[]
}

/** Throws `forbidden`. */
export type HostGuard = (headers: IncomingHttpHeaders) => void

export function createHostGuard({
  loopback,
  allowedHosts = [],
  corsOrigins = [],
}: HostGuardSettings): HostGuard {
  const names = [...allowedHosts.map((host) => host.toLowerCase()), ...(loopback ? LOOPBACK_HOSTNAMES : [])]
  const allowed = new Set(names)
  // Nearly all calls come by the name that the last one came by, and taking an address apart costs as much as parsing a
  // small body.
  let lastPassed: string | undefined
  return ({ host, origin }) => {
    if (host !== undefined && host === lastPassed && origin === undefined) return
    const hostname = hostnameOf(`http://${host ?? ''}`)
    // Bound elsewhere with no names given, any Host will do: such a server asks for a key, which no page has.
    const isOpen = allowed.size === 0
    if (!isOpen && !allowed.has(hostname ?? '')) throw refusal('Host', host)
    lastPassed = host
    if (origin === undefined || corsOrigins.includes(origin)) return
    const originName = hostnameOf(origin)
    if (originName === null || !(isOpen ? originName === hostname : allowed.has(originName))) {
      throw refusal('Origin', origin)
    }
  }
}

/**
 * For what asks for a credential anyhow: there any Host will do, but a page must be one of the server's own, or of an origin
 * that was allowed. Nobody is to try keys through the browsers of others.
 */
export function createOriginGuard({ allowedHosts = [], corsOrigins = [] }: HostGuardSettings): HostGuard {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()))
  return ({ host, origin }) => {
    if (origin === undefined || corsOrigins.includes(origin)) return
    const name = hostnameOf(origin)
    if (name === null || !(allowed.has(name) || name === hostnameOf(`http://${host ?? ''}`)))
      throw refusal('Origin', origin)
  }
}

function hostnameOf(url: string): string | null {
  return URL.parse(url)?.hostname || null
}

function refusal(header: 'Host' | 'Origin', value: string | undefined): GateError {
  const setting =
    header === 'Host' ? 'add the name to mcp.allowed_hosts' : 'add this origin to http.cors_origins'
  const message =
    `${header} ${JSON.stringify(value ?? '')} is not a name of this server. Call it by a name that it is known by, ` +
    `or ${setting} in its configuration.`
  return new GateError('forbidden', message, { header: header.toLowerCase() })
}
