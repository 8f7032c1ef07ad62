// Where the client's idempotency keys come from, unless it is given another source.

export const systemIds = { next: (): string => globalThis.crypto.randomUUID() }
