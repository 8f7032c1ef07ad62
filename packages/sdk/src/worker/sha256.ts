// SHA-256 as hex: at once where the runtime can (Node), else as every runtime can.

export async function sha256(text: string): Promise<string> {
  const crypto = globalThis.process?.getBuiltinModule?.('node:crypto')
  if (crypto) return crypto.createHash('sha256').update(text).digest('hex')
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export interface Hasher {
  update(bytes: Uint8Array): void
  digest(): string
}

/** Of what comes bit by bit; only Node can do that, elsewhere there is none. */
export function createHasher(): Hasher | undefined {
  const hash = globalThis.process?.getBuiltinModule?.('node:crypto').createHash('sha256')
  return hash && { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') }
}
