// The thread that writes the log back, on real files.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createCheckpointer } from './checkpointer.ts'

/** A file with a log that nobody writes back by themselves. */
async function createFile() {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-log-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'gate.db')
  const writer = new DatabaseSync(path)
  onTestFinished(() => writer.close())
  writer.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table words (word text)')
  const counted = writer.prepare('pragma wal_checkpoint(noop)')
  const insert = writer.prepare('insert into words values (?)')
  return {
    path,
    write: () => void insert.run('x'.repeat(3_000)),
    length: () => Number(counted.get()!['log']),
    missing: () => {
      const { log, checkpointed } = counted.get()!
      return Number(log) - Number(checkpointed)
    },
  }
}

/** A transaction that goes on until it is ended, or begun anew. */
function createReader(path: string) {
  const reader = new DatabaseSync(path)
  onTestFinished(() => reader.close())
  const begin = () => reader.exec('begin; select count(*) from words')
  begin()
  return {
    beginAnew: () => {
      reader.exec('commit')
      begin()
    },
  }
}

test('what is in the log is written back, and the next to write begins it anew', async () => {
  const { path, write, length, missing } = await createFile()
  const checkpointer = createCheckpointer(path)
  for (let at = 0; at < 20; at += 1) write()
  expect(missing()).toBeGreaterThan(20)
  await checkpointer.checkpoint('passive')
  expect(missing()).toBe(0)
  write()
  expect(length()).toBeLessThan(20)
  await checkpointer.close()
})

test('a log that somebody reads is begun anew only by who waits for them', async () => {
  const { path, write, length } = await createFile()
  const checkpointer = createCheckpointer(path)
  write()
  const { beginAnew } = createReader(path)
  await checkpointer.checkpoint('passive')
  const before = length()
  write()
  expect(length()).toBeGreaterThan(before)

  // As long as it takes: the wait for readers has an end, and this thread may come too late.
  for (let last = 0; length() >= last; write()) {
    last = length()
    let isWaiting = true
    const waited = checkpointer.checkpoint('restart').finally(() => (isWaiting = false))
    for (const from = performance.now(); isWaiting; await nextTurn())
      if (performance.now() - from > 10) beginAnew()
    await waited
  }
  await checkpointer.close()
})

test('whoever asks hears why it failed, and closes it all the same', async () => {
  const { path } = await createFile()
  const checkpointer = createCheckpointer(path)
  await unlink(path)
  await expect(checkpointer.checkpoint('passive')).rejects.toThrow('ENOENT')
  await checkpointer.close()
})

/** In a process of its own, started with these arguments. */
async function runApart(path: string, last: string, args: readonly string[] = []) {
  const code = `
    const { createCheckpointer } = await import(${JSON.stringify(new URL('checkpointer.ts', import.meta.url))})
    const checkpointer = createCheckpointer(${JSON.stringify(path)})
    await checkpointer.checkpoint('passive')
    ${last}`
  const env = { ...process.env, NODE_OPTIONS: args.join(' ') }
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { env })
  onTestFinished(() => void child.kill())
  const said = text(child.stderr)
  const [exitCode] = (await once(child, 'exit')) as [number | null]
  return { exitCode, said: await said }
}

test('it keeps the process alive while it is asked for something, and not afterwards, however that was started', async () => {
  const { path, write, missing } = await createFile()
  write()
  const { exitCode } = await runApart(path, "await checkpointer.checkpoint('passive')")
  expect(exitCode).toBe(0)
  expect(missing()).toBe(0)
})

test('a thread that ends without a word keeps nobody waiting', async () => {
  const { path } = await createFile()
  const leaves = "import { isMainThread } from 'node:worker_threads'; if (!isMainThread) process.exit(0)"
  const preload = `--import=data:text/javascript,${encodeURIComponent(leaves)}`
  const { exitCode, said } = await runApart(path, '', [preload])
  expect(said).toContain('the thread that writes back the log has ended')
  expect(exitCode).toBe(1)
})
