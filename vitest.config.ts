// How tests run: all packages at once, in three processes (many tests wait for processes of their own), with one real PostgreSQL for the whole run.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    globalSetup: ['packages/server/test/postgres.ts'],
    pool: 'forks',
    maxWorkers: 3,
    fileParallelism: true,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
})
