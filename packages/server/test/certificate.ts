// A certificate that nobody vouches for, written byte by byte: Node makes keys and signatures, but no certificates.
import { generateKeyPairSync, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface TestCertificate {
  readonly certFile: string
  readonly keyFile: string
}

const [INTEGER, BITS, OID, UTF8, TIME, SEQUENCE, SET] = [0x02, 0x03, 0x06, 0x0c, 0x17, 0x30, 0x31]
const ECDSA_WITH_SHA256 = Buffer.from('2a8648ce3d040302', 'hex')
const COMMON_NAME = Buffer.from('550403', 'hex')

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents)
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

/** Over the one that is there, if there is one. */
export function makeCertificate(folder: string, name: string): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const algorithm = der(SEQUENCE, der(OID, ECDSA_WITH_SHA256))
  const called = der(SEQUENCE, der(SET, der(SEQUENCE, der(OID, COMMON_NAME), der(UTF8, Buffer.from(name)))))
  const valid = der(
    SEQUENCE,
    der(TIME, Buffer.from('200101000000Z')),
    der(TIME, Buffer.from('490101000000Z')),
  )
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const signed = der(SEQUENCE, der(INTEGER, Buffer.from([1])), algorithm, called, valid, called, spki)
  const signature = der(BITS, Buffer.from([0]), sign('sha256', signed, privateKey))
  const certificate = der(SEQUENCE, signed, algorithm, signature)
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n')
  writeFileSync(certFile, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`)
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { certFile, keyFile }
}
