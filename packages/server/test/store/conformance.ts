// What every store must do, whatever it is made of: one suite, without skips.
import { afterAll, beforeAll, describe } from 'vitest'
import type { Store } from '../../src/store/port.ts'
import { apiKeys } from './api-keys.ts'
import { audit } from './audit.ts'
import { claims } from './claims.ts'
import { history } from './history.ts'
import { keys } from './keys.ts'
import { ledger } from './ledger.ts'
import { lists } from './lists.ts'
import { oauth } from './oauth.ts'
import { results } from './results.ts'
import { segments } from './segments.ts'
import { sweeps } from './sweeps.ts'
import { taskTypes } from './task-types.ts'
import { tenants } from './tenants.ts'
import { units } from './units.ts'

export interface Opened {
  readonly store: Store
  /** A second instance on the same data, where the store can have one; else the same. */
  readonly beside: Store
  close(): Promise<void>
}

/** A store that is there once the tests run. */
export type Given = () => Opened

export function storeConformance(name: string, open: () => Promise<Opened>): void {
  describe(`store: ${name}`, () => {
    let opened: Opened
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.close())
    const given = () => opened

    describe('units', () => units(given))
    describe('claims', () => claims(given))
    describe('concurrency keys and capacity', () => keys(given))
    describe('sweeps', () => sweeps(given))
    describe('ledger', () => ledger(given))
    describe('segments of the ledger', () => segments(given))
    describe('lists', () => lists(given))
    describe('API keys', () => apiKeys(given))
    describe('tenants', () => tenants(given))
    describe('task types', () => taskTypes(given))
    describe('OAuth', () => oauth(given))
    describe('audit', () => audit(given))
    describe('results', () => results(given))
    describe('history', () => history(given))
  })
}
