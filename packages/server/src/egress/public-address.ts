// Which addresses are on the public internet. Everything else (this machine, its networks, what no RFC routes) is not for
// those whom a task's author could send there.
import { BlockList, isIP } from 'node:net'

/** https://www.iana.org/assignments/iana-ipv4-special-registry */
const SPECIAL_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const

/** Of the one range that is routed: protocols' own (with tunnels that hold IPv4 addresses), documentation, 6to4. */
const SPECIAL_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const special = new BlockList()
for (const [network, prefix] of SPECIAL_IPV4) special.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of SPECIAL_IPV6) special.addSubnet(network, prefix, 'ipv6')
const routed = new BlockList()
routed.addSubnet('2000::', 3, 'ipv6')

export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !special.check(address, 'ipv4')
  if (version !== 6 || address.includes('%')) return false
  return routed.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
