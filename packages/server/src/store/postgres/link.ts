// Where a connection to PostgreSQL leads, as the driver itself reads its URL and the variables that say what that leaves out.
import { Client } from 'pg'

export interface Link {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string
  readonly password: string
  readonly isEncrypted: boolean
}

/** Throws what the driver throws. */
export function postgresLink(url: string): Link {
  const { host, password, ssl } = new Client(url)
  return { host, password: password ?? '', isEncrypted: ssl }
}
