/** Tokens in `tokens.json`: names, hashes and rights. The owner's token is in another file. */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { withFileLock } from '@toolwell/core/internal/node'
import { FolderProblem, preparePrivateFolder, writePrivate } from '../bridge/folder.js'
import type { TokenRecord, TokenStore } from './storage.js'

/** Milliseconds for which the list is cached. */
const LIST_HOLDS = 100

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

export function tokenFile(folder: string): TokenStore {
  const file = join(folder, 'tokens.json')
  let known: readonly TokenRecord[] = []
  let stamp = ''
  let lookedAt = Number.NEGATIVE_INFINITY
  const change = (edit: (tokens: readonly TokenRecord[]) => readonly TokenRecord[] | undefined) => {
    preparePrivateFolder(folder)
    return withFileLock(file, async () => {
      const changed = edit(readTokens(file))
      if (changed) writePrivate(file, `${JSON.stringify(changed, null, 2)}\n`, folder)
      return changed !== undefined
    })
  }
  return {
    list(isFresh = false) {
      if (!isFresh && performance.now() - lookedAt < LIST_HOLDS) return known
      lookedAt = performance.now()
      const found = statSync(file, { throwIfNoEntry: false })
      const now = found ? `${found.mtimeMs} ${found.size} ${found.ino}` : ''
      if (now === stamp) return known
      stamp = now
      try {
        known = readTokens(file)
      } catch {
        // A damaged file opens nothing.
        known = []
      }
      return known
    },
    add: (token) =>
      change((tokens) => (tokens.some(({ name }) => name === token.name) ? undefined : [...tokens, token])),
    remove: (name) =>
      change((tokens) => {
        const rest = tokens.filter((token) => token.name !== name)
        return rest.length === tokens.length ? undefined : rest
      }),
  }
}

/** Empty if the file does not exist. Throws if it is damaged. */
function readTokens(file: string): readonly TokenRecord[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new FolderProblem(`${file} cannot be read. Check its permissions.`)
  }
  try {
    const tokens: unknown = JSON.parse(text)
    if (Array.isArray(tokens) && tokens.every(isTokenRecord)) return tokens
  } catch {
    // The error below says it.
  }
  throw new FolderProblem(`${file} is damaged. Delete it, then add the tokens again.`)
}

function isTokenRecord(value: unknown): value is TokenRecord {
  if (!isRecord(value) || !isRecord(value.rights)) return false
  const { servers = [], tools = [], profile = '', readOnly = false } = value.rights
  return (
    typeof value.name === 'string' &&
    /^[0-9a-f]{64}$/.test(String(value.hash)) &&
    typeof value.createdAt === 'number' &&
    (value.expiresAt === undefined || typeof value.expiresAt === 'number') &&
    typeof profile === 'string' &&
    typeof readOnly === 'boolean' &&
    [servers, tools].every((names) => Array.isArray(names) && names.every((name) => typeof name === 'string'))
  )
}
