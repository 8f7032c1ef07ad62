// asyncgate oauth rotate-keys
import { command } from '../command.ts'
import { Refusal } from '../failure.ts'
import { openLog } from '../gate-access.ts'
import { show } from '../server-call.ts'
import { DATABASE_OPTIONS, readConfig } from '../server-options.ts'

export const oauthRotateKeys = command({
  name: 'oauth rotate-keys',
  group: 'access',
  summary: 'Make a new key that access tokens are signed with.',
  details:
    'Works on the configured database, with the oauth.secret of its servers, which take the new key up within half a minute. ' +
    'The old one stays known until what it signed has expired.',
  configured: true,
  options: {
    'end-tokens': {
      kind: 'switch',
      about: 'Forget the old keys at once, for when one has leaked: every access token ends within a minute.',
    },
    ...DATABASE_OPTIONS,
    json: { kind: 'switch', about: 'Print JSON.' },
  },
  examples: [
    { line: 'asyncgate oauth rotate-keys', about: 'once a year, say; nobody notices' },
    {
      line: 'asyncgate oauth rotate-keys --end-tokens',
      about: 'clients get new tokens by their refresh tokens',
    },
  ],
  async run(call) {
    const { config } = readConfig(call, { 'log-level': 'warn' })
    const { secret } = config.oauth
    if (secret === null) throw new Refusal('There is no oauth.secret. Give the one that the servers have.')
    if (config.database.url === 'memory:') throw new Refusal('In memory: there are no keys to rotate.')
    const { openGate, rotateSigningKeys } = await import('../../gate.ts')
    const gate = await openGate(config, { log: await openLog(config) })
    try {
      const endsTokens = call.values['end-tokens'] === true
      const reply = { key_id: await rotateSigningKeys(gate, { secret, endsTokens }) }
      show(reply, ({ key_id: id }) => `New tokens are signed with ${id}.`, call)
      return 0
    } finally {
      await gate.stop()
    }
  },
})
