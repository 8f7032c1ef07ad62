// Makes a bare clone ready, then runs the command it was given on the pinned Node.
//
//   node scripts/setup.mjs [command] [arguments …]
//
// It needs nothing installed and runs on any Node from 20 on. Dependencies are installed with `npm ci` when
// node_modules is missing or differs from package-lock.json. The command finds node_modules/.bin first on its
// PATH, so `node` there is the version that package.json pins and not the machine's own.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, 'node_modules', '.bin')
const onWindows = process.platform === 'win32'

const staleness = reasonToInstall()
if (staleness) install(staleness)

const [program, ...programArgs] = process.argv.slice(2)
if (program) run(program, programArgs)

/** Compares the lock file with the list that npm keeps of what it has installed. */
function reasonToInstall() {
  const installed = readPackages(join('node_modules', '.package-lock.json'))
  if (!installed) return 'node_modules is missing or incomplete'
  const locked = readPackages('package-lock.json')
  if (!locked) fail('package-lock.json is missing. Restore it with: git checkout package-lock.json')
  for (const [path, entry] of Object.entries(locked)) {
    if (!path.startsWith('node_modules/')) continue
    const found = installed[path]
    if (!found && !entry.optional) return `${path} is not installed`
    if (found && found.version !== entry.version) return `${path} is not version ${entry.version}`
  }
  if (!pinnedNodeRuns()) return 'the pinned Node does not run'
  return undefined
}

function install(reason) {
  console.error(`setup: ${reason}; running npm ci (a minute on first use)`)
  // The engine warnings are hidden: npm itself runs on the machine's Node, everything else on the pinned one.
  const { status, error } = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: onWindows,
    env: withoutWorkspaceSettings(process.env),
  })
  if (error) fail(`npm could not be started (${error.message}). Install Node 20 or later, which brings npm.`)
  if (status !== 0) {
    fail('npm ci failed, see above. Check that the npm registry is reachable, then run the command again.')
  }
  if (!pinnedNodeRuns()) {
    fail(
      'the dependencies are installed but node_modules/.bin/node does not run. The package "node" brings it with ' +
        'an install script: make sure that install scripts are on (npm config get ignore-scripts), delete ' +
        'node_modules, and run the command again.',
    )
  }
  console.error('setup: done')
}

/** What npm says of an outer `npm run` (its prefix, its workspace) must not steer the `npm ci` inside it. */
function withoutWorkspaceSettings(env) {
  const dropped = /^npm_(package|lifecycle|config_(local_prefix|prefix|workspace))/i
  return Object.fromEntries(Object.entries(env).filter(([name]) => !dropped.test(name)))
}

function run(command, args) {
  const path = `${bin}${delimiter}${process.env.PATH ?? ''}`
  const child = spawn(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: onWindows,
    env: { ...process.env, PATH: path },
  })
  // A terminal sends Ctrl-C to the child as well; anything else signals this process alone, so pass it on.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGHUP', () => child.kill('SIGHUP'))
  // When npm is ended it ends its shell, and the shell tells nobody: notice that the shell is gone.
  const parent = process.ppid
  const orphaned = () => process.ppid !== parent && child.kill('SIGTERM')
  if (process.env.npm_lifecycle_event) setInterval(orphaned, 250)
  child.on('error', (error) => fail(`${command} could not be started: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}

function readPackages(file) {
  const path = join(root, file)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined
}

function pinnedNodeRuns() {
  const node = join(bin, onWindows ? 'node.cmd' : 'node')
  return existsSync(node) && spawnSync(node, ['--version'], { shell: onWindows }).status === 0
}

function fail(message) {
  console.error(`setup: ${message}`)
  process.exit(1)
}
