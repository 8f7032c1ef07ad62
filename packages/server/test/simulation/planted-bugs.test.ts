// A test of the test: each wrong variant of the gate is found by the simulation, for the right reason, within few seeds.
import { expect, test } from 'vitest'
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts'
import { runSimulation } from './simulation.ts'
import { Violation } from './violation.ts'

const SEEDS_MAX = 60

/** The first violation and its seed. */
async function search(plant: () => PlantedBug): Promise<{ seed: number; message: string } | null> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    try {
      await runSimulation({ seed, bug: plant() })
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      return { seed, message: error.message }
    }
  }
  return null
}

test.each(Object.entries(PLANTED_BUGS))('it finds that %s', async (_name, plant) => {
  const found = await search(plant)
  expect(found?.message).toMatch(plant().caughtAs)
  expect(found?.message).toContain(`--from ${found?.seed}`)
})
