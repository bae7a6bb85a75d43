/** The hosts that a test may reach. */

import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** True for 127.0.0.0/8, ::1 in any spelling, and the name localhost. Other names count as public and are not resolved. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '')
  const family = isIP(bare)
  if (family === 0) return /^localhost\.?$/i.test(bare)
  return loopback.check(bare, family === 4 ? 'ipv4' : 'ipv6')
}
