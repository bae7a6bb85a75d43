/** Asks the user whether to trust config files of a folder. Without a UI, a line says what to do. */
import type { ProjectFile } from '@toolwell/mcp/internal'
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
    await ask(session, context, file)
  }
}

/** `/toolwell trust`: asks about every file, even those refused before. Without a UI it refuses, because a program may have typed it. */
export async function trustAll(session: Session, context: Context): Promise<void> {
  const files = [...session.project.undecided, ...session.project.refused]
  if (files.length === 0) say(context, 'Every config file in this folder is already trusted.')
  for (const file of files) {
    if (!context.hasUI) say(context, describeUntrusted(file), 'warning')
    else if (await ask(session, context, file))
      say(context, `Toolwell uses ${file.path}. If the file changes, trust it again.`)
  }
}

/** Returns true if the user trusts the file and the decision is stored. */
async function ask(session: Session, context: Context, file: ProjectFile): Promise<boolean> {
  const isTrusted = await context.ui.confirm(
    `May pi start the servers of ${file.path}?`,
    `${describeServers(file, context.cwd)}\nThe author of this file decides what these programs do. Your answer is saved until the file changes.`,
  )
  try {
    session.decide(file, isTrusted)
    return isTrusted
  } catch (error) {
    say(context, `The decision about ${file.path} could not be saved: ${String(error)}`, 'error')
    return false
  }
}
