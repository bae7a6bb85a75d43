/** The database that the replicas of a gateway share. */
import type { SharedStorage } from '@toolwell/gateway/postgres'
import { Problem } from './problem.js'
import type { Terminal } from './terminal.js'

const VARIABLE = 'TOOLWELL_DATABASE'

export const databaseFlag = {
  type: 'string',
  valueHint: 'URL',
  description: `The PostgreSQL database that the replicas of a gateway share. Default: the variable ${VARIABLE}; without it, files.`,
} as const

/** Undefined if neither the flag nor the variable is set. */
export function findDatabase(given: string | undefined, { env }: Terminal): string | undefined {
  return given ?? (env[VARIABLE] || undefined)
}

export async function openDatabase(url: string, { env, errors }: Terminal): Promise<SharedStorage> {
  const { openPostgresStorage, KEY_VARIABLE } = await import('@toolwell/gateway/postgres')
  try {
    return await openPostgresStorage({
      connectionString: url,
      key: env[KEY_VARIABLE] || undefined,
      onProblem: (problem) => void errors.write(`toolwell: ${problem}\n`).catch(() => undefined),
    })
  } catch (error) {
    throw nameSetting(error, url, env)
  }
}

function nameSetting(error: unknown, url: string, env: Terminal['env']): Problem {
  const setting = url === env[VARIABLE] ? `the variable ${VARIABLE}` : '--database'
  return new Problem((error as Error).message, `The connection string is in ${setting}.`, {
    reason: 'database',
    cause: error,
  })
}

/** Opens the database for `work`, if one is given. */
export async function withDatabase<T>(
  given: string | undefined,
  terminal: Terminal,
  work: (shared: SharedStorage | undefined) => Promise<T>,
): Promise<T> {
  const url = findDatabase(given, terminal)
  if (url === undefined) return work(undefined)
  const shared = await openDatabase(url, terminal)
  try {
    const done = await work(shared)
    await shared.written().catch((error: Error) => {
      throw new Problem(error.message, '', { reason: 'database', cause: error })
    })
    return done
  } catch (error) {
    throw (error as { code?: unknown }).code === 'store-failed'
      ? nameSetting(error, url, terminal.env)
      : error
  } finally {
    await shared.close()
  }
}
