// How a client reaches its server, for those who must reach it from elsewhere: a worker renews its leases from another
// thread, to which a client cannot be handed over.

export interface PlainWire {
  readonly url: string
  readonly apiKey: string | undefined
}

const wires = new WeakMap<object, PlainWire>()

export function rememberWire(client: object, { url, apiKey }: PlainWire): void {
  wires.set(client, { url, apiKey })
}

/** Undefined for a client with a `fetch` of its own, or with certificates and the like: another thread would be without. */
export function wireOf(client: object): PlainWire | undefined {
  return wires.get(client)
}
