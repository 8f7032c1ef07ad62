// TLS from two files, for whoever has no proxy that does it. When they change, new connections get the new certificate.
import { readFileSync } from 'node:fs'
import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { type Config, ConfigError } from '../config.ts'

export interface TlsFiles {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Null where none are configured. Throws when they cannot be read or do not belong together. */
export function readTls({ certFile, keyFile }: Config['tls']): TlsFiles | null {
  if (certFile === null || keyFile === null) return null
  const files = { cert: readPem('tls.cert_file', certFile), key: readPem('tls.key_file', keyFile) }
  try {
    createSecureContext(files)
  } catch (error) {
    const message = `${certFile} and ${keyFile} can't be used together: ${reasonOf(error)}. Give a certificate in PEM and its own key.`
    throw new ConfigError([{ where: 'tls.cert_file', message }])
  }
  return files
}

export function expiresAt({ cert }: TlsFiles): number {
  return Date.parse(new X509Certificate(cert).validTo)
}

function readPem(where: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError([{ where, message: `${path} can't be read: ${reasonOf(error)}.` }])
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What a server of TLS can do, and a plain one can't. */
interface Renewable {
  setSecureContext(files: TlsFiles): void
}

export interface CertificateKeeper {
  /** Looks whether the files have changed; true if the new ones are in use now. */
  renew(): Promise<boolean>
}

export function createCertificateKeeper(
  server: object,
  { settings, first }: { settings: Config['tls']; first: TlsFiles },
): CertificateKeeper {
  let inUse = first
  return {
    renew: async () => {
      const files = readTls(settings)
      if (files === null || (files.cert.equals(inUse.cert) && files.key.equals(inUse.key))) return false
      const renewable = server as Renewable // made with TLS
      renewable.setSecureContext(files)
      inUse = files
      return true
    },
  }
}
