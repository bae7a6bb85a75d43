/** Asks what the user thinks of a folder's config files: once, where pi has a screen; elsewhere a line says how to answer. */
import type { Context } from './pi.js'
import { serversIn, untrustedLine } from './project-files.js'
import { say } from './say.js'
import type { Session } from './session.js'

/** Those that are being asked about, or were told of, by path and content. */
export type Asked = Set<string>

/**
 * Resolves when everything is answered. Do not wait for it where pi waits as well: it may not read answers before the session has
 * started.
 */
export async function askForTrust(session: Session, context: Context, asked: Asked): Promise<void> {
  const { undecided } = session.project
  const fresh = undecided.filter(({ path, hash }) => !asked.has(`${path} ${hash}`))
  for (const { path, hash } of fresh) asked.add(`${path} ${hash}`)
  for (const file of fresh) {
    if (!context.hasUI) {
      say(context, untrustedLine(file), 'warning')
      continue
    }
    const isTrusted = await context.ui.confirm(
      `May pi start the servers of ${file.path}?`,
      `${serversIn(file, context.cwd)}\nThe file belongs to this folder, and whoever wrote it decides what these programs do. The answer is kept; it counts until the file changes.`,
    )
    decide(session, context, file, isTrusted)
  }
}

/** `/toolwell trust`: everything that is there, also what was refused before. */
export function trustAll(session: Session, context: Context): void {
  const files = [...session.project.undecided, ...session.project.refused]
  if (files.length === 0) say(context, 'There is no config file in this folder that waits to be trusted.')
  for (const file of files) {
    if (decide(session, context, file, true))
      say(
        context,
        `Toolwell uses ${file.path} as it is now:\n${serversIn(file, context.cwd)}\nA change has to be trusted again.`,
      )
  }
}

function decide(
  session: Session,
  context: Context,
  file: Parameters<Session['decide']>[0],
  isTrusted: boolean,
): boolean {
  try {
    session.decide(file, isTrusted)
    return true
  } catch (error) {
    say(context, `The answer on ${file.path} could not be kept: ${String(error)}`, 'error')
    return false
  }
}
