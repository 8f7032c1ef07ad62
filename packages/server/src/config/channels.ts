// The settings of result channels.
import { z } from 'zod'
import { choice, onOff, text, whole } from './field.ts'

const MIB = 1_048_576

const optionalPath = z
  .string()
  .regex(/^\P{Cc}{1,4096}$/u)
  .nullable()
  .default(null)
const optionalSecret = z
  .string()
  .regex(/^[\x21-\x7e]{1,500}$/)
  .nullable()
  .default(null)
const FOLDER = 'a path, or nothing'

export const channels = z.strictObject({
  default: choice(
    'Where results go that are too large to be inline, unless the worker or the task names another channel.',
    ['blob', 'file', 's3'] as const,
    'blob',
  ),
  inline_max_bytes: whole('Results up to this size travel with their task.', {
    default: 32_768,
    min: 0,
    max: 40_960, // as a pointer in a receipt it must leave room for the rest
  }),
  max_bytes: whole('Largest result that is taken, in whichever channel.', {
    default: 1_024 * MIB,
    min: 1_024,
    max: 65_536 * MIB,
  }),
  blob_path: text(optionalPath, {
    about:
      'Folder of the channel blob. By default it stands beside an SQLite database, under its name with "-results"; on ' +
      'PostgreSQL give a folder that all servers share, or use s3.',
    expects: FOLDER,
  }),
  file_path: text(optionalPath, {
    about: 'Folder of the channel file, whose files have names for people. All servers must share it.',
    expects: FOLDER,
  }),
  s3_bucket: text(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
      .nullable()
      .default(null),
    {
      about: 'Bucket of the channel s3. Needs the package @aws-sdk/client-s3 installed beside asyncgate.',
      expects: 'the name of a bucket, or nothing',
    },
  ),
  s3_endpoint: text(
    z
      .string()
      .regex(/^https?:\/\/[^\s]+$/)
      .nullable()
      .default(null),
    {
      about: "Address of an S3-compatible store; default Amazon's own.",
      expects: 'an http or https URL, or nothing',
    },
  ),
  s3_region: text(
    z
      .string()
      .regex(/^[a-z0-9-]{1,50}$/)
      .default('us-east-1'),
    {
      about: 'Region of the bucket; many compatible stores take any.',
      expects: 'a region, e.g. eu-central-1',
    },
  ),
  s3_prefix: text(
    z
      .string()
      .regex(/^([\w.-]+\/)*$/)
      .max(200)
      .default(''),
    { about: 'Before every key in the bucket.', expects: 'names that each end in a slash, e.g. asyncgate/' },
  ),
  s3_access_key_id: text(optionalSecret, {
    about:
      "Credentials of the store; default what the library finds (AWS_… variables, a profile, the machine's role).",
    expects: 'an access key id, or nothing',
  }),
  s3_secret_access_key: text(optionalSecret, {
    about: 'The secret of s3_access_key_id.',
    expects: 'a secret access key, or nothing',
    secret: 'whole',
  }),
  http: onOff('Results may be PUT to and fetched from public URLs that workers name.', true),
})
