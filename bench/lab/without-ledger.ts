// For the server's process: AsyncGate that hashes and writes no receipts and keeps no obligations, to tell what they cost.
// Nothing in the product can do this; the two modules are replaced while they are loaded.
import { registerHooks } from 'node:module'

const NOTHING_WRITTEN = 'export const writeLedger = () => Promise.resolve()'
const HASHES = /\/engine\/ledger\.ts$/
const WRITES = /\/store\/sql\/write-ledger\.ts$/

registerHooks({
  load(url, context, nextLoad) {
    if (WRITES.test(url)) return { format: 'module', source: NOTHING_WRITTEN, shortCircuit: true }
    const loaded = nextLoad(url, context)
    if (!HASHES.test(url)) return loaded
    const { source: bytes } = loaded
    const source = typeof bytes === 'string' ? bytes : Buffer.from(bytes as Uint8Array).toString() // as files are loaded
    const unhashed = source.replace('const hash = receiptHash(fact, body)', "const hash = ''")
    if (unhashed === source)
      throw new Error('receipts are hashed elsewhere now: mend bench/lab/without-ledger.ts')
    return { ...loaded, source: unhashed }
  },
})
