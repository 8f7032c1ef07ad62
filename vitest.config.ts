// How tests run: all packages at once, in three processes (many tests wait for processes of their own), with one real PostgreSQL for the whole run.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    globalSetup: ['packages/server/test/postgres.ts'],
    pool: 'forks',
    // Modules are loaded once for all the files of a process: a third of the time of the small ones was for loading them again.
    isolate: false,
    maxWorkers: 3,
    fileParallelism: true,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
})
