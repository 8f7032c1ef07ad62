// The memory store is held to the same suite as those that keep what they are told.
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { storeConformance } from './conformance.ts'

storeConformance('memory', async () => {
  const store = createMemoryStore()
  return { store, beside: store, close: async () => {} }
})
