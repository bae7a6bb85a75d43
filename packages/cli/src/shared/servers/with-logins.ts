/** Logins as the library keeps them, so that every program of the user finds them. */
import { diskLogins, type LoginStore } from '@toolwell/mcp'
import { defaultLoginFolder, describeWarning } from '@toolwell/mcp/internal'
import { withCommandName } from '../called-as.js'
import type { Terminal } from '../terminal.js'

/** What is wrong with their files goes to standard error, once and at the end. */
export async function withLogins<T>(
  { env, errors, name }: Terminal,
  work: (store: LoginStore) => Promise<T>,
): Promise<T> {
  const warnings = new Set<string>()
  const store = diskLogins({
    folder: defaultLoginFolder(env),
    onWarning: (warning) => warnings.add(describeWarning(warning)),
  })
  try {
    return await work(store)
  } finally {
    for (const warning of warnings) await errors.write(`toolwell: ${withCommandName(warning, name)}.\n`)
  }
}
