// A store that speaks S3, for tests: a real server on a free port, over a folder of its own.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { S3Settings } from '../../src/channel/s3.ts'

interface S3rver {
  run(): Promise<{ readonly port: number }>
  close(): Promise<void>
}

// It brings no types of its own.
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => S3rver

export interface S3Server {
  readonly settings: S3Settings
  /** The files in which it keeps the content of objects. */
  files(): Promise<string[]>
  close(): Promise<void>
}

export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'asyncgate-s3-'))
  const bucket = 'results'
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: bucket }],
  })
  const { port } = await server.run()
  return {
    settings: {
      bucket,
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      prefix: 'gate/',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    },
    files: async () =>
      (await readdir(directory, { recursive: true, encoding: 'utf8' }))
        .filter((name) => name.endsWith('_object'))
        .map((name) => join(directory, name)),
    close: async () => {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
