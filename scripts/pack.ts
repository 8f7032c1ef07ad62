// Runs around `npm pack` and `npm publish` of a package: node scripts/pack.ts before|after packages/<name>
//
// In the repository a package points at its TypeScript sources, so that nothing needs building. In the tarball
// it points at dist/. npm has no field for that difference, so the paths in package.json are changed while it
// packs, and changed back.
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)
const [moment, name] = process.argv.slice(2)
if (!name || (moment !== 'before' && moment !== 'after')) {
  console.error('Usage: node scripts/pack.ts before|after packages/<name>')
  process.exit(2)
}
const folder = join(root, name)
const texts = ['LICENSE', 'README.md'].map((file) => ({ source: join(root, file), copy: join(folder, file) }))

if (moment === 'before') {
  await import('./build.ts')
  rewriteManifest((text) => text.replace(/"\.\/src\/(.+?)\.ts"/g, '"./dist/$1.js"'))
  for (const { source, copy } of texts) {
    if (existsSync(source) && !existsSync(copy)) copyFileSync(source, copy)
  }
} else {
  rewriteManifest((text) => text.replace(/"\.\/dist\/(.+?)\.js"/g, '"./src/$1.ts"'))
  for (const { source, copy } of texts) {
    if (existsSync(copy) && readFileSync(copy).equals(readFileSync(source))) rmSync(copy)
  }
}

function rewriteManifest(change: (text: string) => string) {
  const file = join(folder, 'package.json')
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}
