// The key under which something that OAuth gives out is kept. Its id is a secret (a code, a refresh token, a session), so that
// the store holds a hash of it: who reads the database can use none of them. The ids are random, a plain hash does.
import { hash } from 'node:crypto'

export function artifactKey(model: string, id: string): string {
  return hash('sha256', `${model}:${id}`, 'base64url')
}
