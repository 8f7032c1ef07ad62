// Installs this package's own dependencies when they are missing or differ from its lock file.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = import.meta.dirname

export function installPeers(): void {
  if (isInstalled()) return
  process.stderr.write('bench: installing the peers (once)\n')
  // Their install scripts only build what their packages bring prebuilt.
  const { status } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: folder,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
      env: withoutOuterSettings(process.env),
    },
  )
  if (status === 0) return
  process.stderr.write('bench: npm ci failed in bench/, see above. Is the npm registry reachable?\n')
  process.exit(1)
}

function isInstalled(): boolean {
  const installed = readVersions(join(folder, 'node_modules', '.package-lock.json'))
  const locked = readVersions(join(folder, 'package-lock.json'))
  if (installed === undefined || locked === undefined) return false
  return [...locked].every(([path, { version, optional }]) => {
    const found = installed.get(path)
    return found === undefined ? optional : found.version === version
  })
}

type Versions = Map<string, { version: string; optional: boolean }>

function readVersions(file: string): Versions | undefined {
  if (!existsSync(file)) return undefined
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    packages: Record<string, { version: string; optional?: boolean }>
  }
  const entries = Object.entries(packages).filter(([path]) => path !== '')
  return new Map(entries.map(([path, { version, optional = false }]) => [path, { version, optional }]))
}

/** What npm says of the outer `npm run` must not steer the `npm ci` in here. */
function withoutOuterSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const outer = /^npm_(package|lifecycle|config_(local_prefix|prefix|workspace))/i
  return Object.fromEntries(Object.entries(env).filter(([name]) => !outer.test(name)))
}
