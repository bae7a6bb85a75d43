/** The gateway that `npm start` runs, beside the one of the user. */
import { join, resolve } from 'node:path'
import type { Terminal } from './terminal.js'

/** Where `npm start` of the clone that this command is in has its gateway. */
export function npmStartFolder([, script]: Terminal['program']): string {
  const clone = resolve(script, '..', '..', '..', '..')
  return join(clone, 'node_modules', '.toolwell-start', 'state', 'toolwell', 'gateway')
}
