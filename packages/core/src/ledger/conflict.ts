/** Someone else has written first: known by its code, also across two installs of this package. */
import { ToolwellError } from '../base/errors.js'

export function isConflict(error: unknown): boolean {
  return ToolwellError.is(error) && error.code === 'ledger-conflict'
}
