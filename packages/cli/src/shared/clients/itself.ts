/** Entries that are the gateway itself, known by what they start or reach: behind itself it would list and search itself. */
import { defaultGatewayFolder, findDaemon } from '@toolwell/gateway/bridge'
import { npmStartFolder } from '../npm-start.js'
import type { Terminal } from '../terminal.js'
import { startsToolwell } from './entry.js'
import type { Fields } from './shapes.js'

/** Of an entry with the keys of toolwell.json. */
export type IsGateway = (entry: Fields) => boolean

/** Those of `toolwell serve` and of `npm start`, where nobody asked for others. */
const USUAL_PORTS = [7411, 7412]

/** Gateways that run are asked for their ports. */
export async function createGatewayCheck({
  env,
  program,
}: Pick<Terminal, 'env' | 'program'>): Promise<IsGateway> {
  const folders = [defaultGatewayFolder(env), npmStartFolder(program)]
  const found = await Promise.all(folders.map((folder) => findDaemon(folder)))
  const ports = found.flatMap((each) => (each.kind === 'none' ? [] : [each.file.port]))
  const own = new Set([...USUAL_PORTS, ...ports])
  return (entry) => startsToolwell(entry) || (typeof entry.url === 'string' && isOwnAddress(entry.url, own))
}

function isOwnAddress(text: string, ports: ReadonlySet<number>): boolean {
  if (!URL.canParse(text)) return false
  const { hostname, port, pathname } = new URL(text)
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
  return isHere && ports.has(Number(port)) && /^\/mcp(?:\/|$)/.test(pathname)
}
