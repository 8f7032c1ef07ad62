// A Redis of one's own, where the machine has one: it comes with no npm package.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Lab } from './lab.ts'

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0
}

export async function startRedis(
  lab: Lab,
  appendfsync: 'always' | 'everysec',
): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const port = await freePort()
  const dir = await mkdtemp(join(lab.folder, 'redis-'))
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', appendfsync]
  const listening = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir]
  const child = spawn('redis-server', [...listening, ...durable], { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  const stop = lab.onClose(async () => {
    child.kill('SIGKILL')
    await exited
  })
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('Ready to accept connections')) break
  }
  // Nobody reads its log from here on, and a full pipe would stop it.
  child.stdout.resume()
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid ?? 0, stop }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
