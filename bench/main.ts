// npm run bench -- <scenario> …
//
// Installs the peers on first use, since nobody who only uses AsyncGate should have them, and only then loads the
// part that imports them.
import { installPeers } from './install.ts'

installPeers()
const { bench } = await import('./bench.ts')
process.exitCode = await bench(process.argv.slice(2))
