/** Clients whose entry starts a Toolwell that is not there: the clone was moved, or another node was installed. */
import { existsSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { isAbsolute } from 'node:path'
import { homeOf, type OwnFile, ownFiles } from '../shared/clients/clients.js'
import { commandLineOf, ENTRY_NAME, isOurs } from '../shared/clients/entry.js'
import { parseClient } from '../shared/clients/parse-client.js'
import { entriesOf, valueAt } from '../shared/clients/read-client.js'
import { shapeOf } from '../shared/clients/shapes.js'
import type { Terminal } from '../shared/terminal.js'
import type { Diagnosis } from './diagnosis.js'

export function checkClients({ env, folder }: Pick<Terminal, 'env' | 'folder'>): Diagnosis[] {
  return ownFiles({ home: homeOf(env), folder, platform: platform(), env }).flatMap((own): Diagnosis[] => {
    const entry = entryIn(own)
    if (!isOurs(entry)) return []
    const [node = '', script = ''] = commandLineOf(entry)
    const gone = [node, script].filter((path) => isAbsolute(path) && !existsSync(path))
    if (gone.length === 0) return []
    return [
      {
        rule: 'clients',
        level: 'error',
        message: `${own.label} cannot start Toolwell: ${gone.join(' and ')} ${gone.length === 1 ? 'is' : 'are'} not there any more.`,
        fix: `Write the entry anew with: toolwell connect ${own.client}`,
        file: own.file,
      },
    ]
  })
}

/** A file that cannot be read is not looked at: its client tells its user. */
function entryIn({ file, shape: name }: OwnFile): unknown {
  const { format, tables } = shapeOf(name)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  // Some of these files are large, and most have no such entry.
  if (!text.includes(ENTRY_NAME)) return undefined
  const parsed = parseClient(text, format, file)
  if ('problem' in parsed) return undefined
  return tables
    .flatMap((path) => entriesOf(valueAt(parsed.value, path)))
    .find((each) => each.name === ENTRY_NAME)?.entry
}
