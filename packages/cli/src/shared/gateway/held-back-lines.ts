/** Tools that are held back, and what to do, in the same words wherever it is said. */
import { quote } from '@toolwell/core/internal'
import { approval } from '@toolwell/gateway/bridge'
import { plural } from '../table.js'

const MOST_NAMED = 10

/** `config`: the file that a command about the server has to name; `name`: how the command is called. */
export function quarantinedLines(
  server: string,
  tools: readonly string[],
  config: string | undefined,
  name: string,
): string[] {
  const { look, approve } = approval(server, config, name)
  const isOne = tools.length === 1
  const names = tools.slice(0, MOST_NAMED).map((name) => (/^[\w.@-]+$/.test(name) ? name : quote(name, 60)))
  const rest = tools.length - names.length
  return [
    `! ${plural(tools.length, 'tool')} of ${server} ${isOne ? 'is' : 'are'} held back: ${names.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`,
    `    Look at ${isOne ? 'it' : 'them'} first: ${look}`,
    `    Approve ${isOne ? 'it' : 'them'}: ${approve}`,
  ]
}
