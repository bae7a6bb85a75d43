/** Asks the user whether to trust config files of a folder. Without a UI, a line says how to trust them. */
import { describeServers, describeUntrusted } from './config-files.js'
import type { Context } from './pi.js'
import { say } from './pi.js'
import type { Session } from './session.js'

/** Files already asked about, by path and content. */
export type Asked = Set<string>

/** Resolves when every question is answered. Do not await it in a pi event: pi may read answers only after the session has started. */
export async function askForTrust(session: Session, context: Context, asked: Asked): Promise<void> {
  const { undecided } = session.project
  const fresh = undecided.filter(({ path, hash }) => !asked.has(`${path} ${hash}`))
  for (const { path, hash } of fresh) asked.add(`${path} ${hash}`)
  for (const file of fresh) {
    if (!context.hasUI) {
      say(context, describeUntrusted(file), 'warning')
      continue
    }
    const isTrusted = await context.ui.confirm(
      `May pi start the servers of ${file.path}?`,
      `${describeServers(file, context.cwd)}\nThe author of this file decides what these programs do. Your answer is saved until the file changes.`,
    )
    decide(session, context, file, isTrusted)
  }
}

/** `/toolwell trust`: trusts every file, even those refused before. */
export function trustAll(session: Session, context: Context): void {
  const files = [...session.project.undecided, ...session.project.refused]
  if (files.length === 0) say(context, 'Every config file in this folder is already trusted.')
  for (const file of files) {
    if (decide(session, context, file, true))
      say(
        context,
        `Toolwell uses ${file.path}:\n${describeServers(file, context.cwd)}\nIf the file changes, trust it again.`,
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
    say(context, `The decision about ${file.path} could not be saved: ${String(error)}`, 'error')
    return false
  }
}
