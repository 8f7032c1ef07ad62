// What `asyncgate config` may show: everything but secrets.
import { expect, test } from 'vitest'
import { describeConfig, traceConfig } from '../config.ts'
import { hidePassword } from './describe.ts'
import { KEYS } from './keys.ts'
import { configurationReference } from './reference.ts'

test('every key is described with its value and where it came from', () => {
  const described = describeConfig(
    traceConfig({
      env: { ASYNCGATE_PORT: '1' },
      cwd: '/',
      readFile: () => 'host: ::1',
      flags: { 'log-level': 'warn' },
    }),
  )
  expect(described.map(({ key }) => key)).toEqual(KEYS.map(({ name }) => name))
  expect(described).toContainEqual(expect.objectContaining({ key: 'port', value: 1, source: 'env' }))
  expect(described).toContainEqual(
    expect.objectContaining({ key: 'host', value: '::1', where: 'asyncgate.yaml:1' }),
  )
  expect(described).toContainEqual(
    expect.objectContaining({ key: 'log.level', value: 'warn', where: '--log-level' }),
  )
})

test('keys and passwords are hidden', () => {
  const env = {
    ASYNCGATE_AUTH_API_KEY: 'hush',
    ASYNCGATE_DATABASE_URL: 'postgres://gate:hush@db/gate',
    ASYNCGATE_DATABASE_MIGRATION_URL: 'postgres://db/gate?user=o&password=hush&sslmode=require',
  }
  const described = describeConfig(traceConfig({ env, cwd: '/', readFile: () => undefined }))
  expect(JSON.stringify(described)).not.toContain('hush')
})

test.each([
  ['postgres://me:a@b/c@db:5432/gate', 'postgres://me:********@db:5432/gate'],
  ['postgres://me@db/gate', 'postgres://me@db/gate'],
  ['sqlite:./a:b@c.db', 'sqlite:./a:b@c.db'],
])('%s is shown as %s', (url, shown) => {
  expect(hidePassword(url)).toBe(shown)
})

test('the reference page has a row for every key', () => {
  const page = configurationReference()
  for (const key of KEYS) expect(page).toContain(`| \`${key.name}\` |`)
})
