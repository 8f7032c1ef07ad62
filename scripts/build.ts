// Builds what is published: each package's src/ becomes its dist/ as JavaScript with declarations.
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync, statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'

const root = dirname(import.meta.dirname)
const packages = ['sdk', 'server'].map((name) => join(root, 'packages', name))

for (const folder of packages) rmSync(join(folder, 'dist'), { recursive: true, force: true })

// The server's project refers to the sdk's, so this builds both, in order.
const { status } = spawnSync(
  'tsc',
  ['--build', '--force', join(root, 'packages/server/tsconfig.build.json')],
  {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  },
)
if (status !== 0) process.exit(1)

// The compiler leaves other files (SQL, pages) where they are.
for (const folder of packages) {
  cpSync(join(folder, 'src'), join(folder, 'dist'), {
    recursive: true,
    filter: (file) => statSync(file).isDirectory() || extname(file) !== '.ts',
  })
}
