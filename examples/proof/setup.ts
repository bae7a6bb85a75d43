/** What the proof and the process it kills have in common: the project, the servers, host options. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  createToolwell,
  type DeliveryName,
  type Tokenizer,
  type Toolwell,
  type ToolwellEvent,
} from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import {
  connectServers,
  describeProblem,
  diskCache,
  diskFirstUse,
  loadConfig,
  type ServerEvent,
  type Servers,
} from '@toolwell/mcp'
import type { SessionOptions } from '../agent/session.ts'
import { delegate } from '../agent/session-tools.ts'

export interface Setup {
  /** Everything lies in here: project, sessions, what the memory server remembers, the cache of definitions. */
  readonly folder: string
  readonly url: string
  /** Toolwell's default, `auto`, when absent. */
  readonly mode?: 'on'
  /** A profile of toolwell.json; all servers when absent. */
  readonly profile?: string
  /** The delivery that Toolwell chooses for the wire when absent. */
  readonly delivery?: DeliveryName
  readonly tokenizer: Tokenizer
  readonly onEvent?: (event: ToolwellEvent) => void
  readonly onServer?: (event: ServerEvent) => void
  readonly onRequest?: NonNullable<SessionOptions['onRequest']>
}

export interface Proof {
  readonly host: SessionOptions
  readonly well: Toolwell
  readonly servers: Servers
}

export const projectOf = (folder: string) => join(folder, 'project')
export const memoryOf = (folder: string) => join(folder, 'memory.jsonl')

/** A small project with a bug in it. */
export async function seedProject(folder: string): Promise<void> {
  await mkdir(join(projectOf(folder), 'src'), { recursive: true })
  const write = (path: string, text: string) => writeFile(join(projectOf(folder), path), text)
  await write('package.json', '{\n  "name": "acorn-invoices",\n  "version": "1.4.0"\n}\n')
  await write(
    'src/invoice.js',
    'export function total(items) {\n  let sum = 0\n  for (let i = 0; i < items.length - 1; i++) sum += items[i].price\n  return sum\n}\n',
  )
}

/** One predicate for cards, search, loading and calls: no code runs in a browser from here. */
export const DENIED = 'playwright/browser_run_code_unsafe'

/** The servers of toolwell.json as sources of a catalogue: from the cache where there is one, listed where there is none. */
export function openProof(setup: Setup): Proof {
  const { folder, url, mode, profile, delivery, tokenizer, onEvent, onServer, onRequest } = setup
  const config = loadConfig({
    files: [fileURLToPath(new URL('./toolwell.json', import.meta.url))],
    workspaceFolder: projectOf(folder),
    ...(profile === undefined ? {} : { profile }),
  })
  const [problem] = config.problems
  if (problem) throw new Error(describeProblem(problem))
  const well = createToolwell({
    tools: [delegate],
    costs: { tokenizer },
    ...(mode ? { mode } : {}),
    ...(delivery ? { delivery } : {}),
    store: jsonlStore(join(folder, 'sessions')),
    policy: ({ id }) => id !== DENIED,
    ...(onEvent ? { onEvent } : {}),
  })
  const servers = connectServers(well.catalogue, config, {
    cache: diskCache({ folder: join(folder, 'cache') }),
    firstUse: diskFirstUse({ folder: join(folder, 'first-use') }),
    logs: join(folder, 'logs'),
    ...(onServer ? { onEvent: onServer } : {}),
  })
  const host: SessionOptions = {
    well,
    servers: { 'openai-chat': { url, model: 'scripted' } },
    folder: join(folder, 'sessions'),
    system: `You are a careful engineer. You work on the project in ${projectOf(folder)}.`,
    async onRequest(request) {
      // Counted here, so that the accounts do not depend on what a server says of its tokens.
      const { conversation, turn, answer } = request
      const { messages } = turn.parts as { messages: readonly object[] }
      const messageTokens = tokenizer.count(JSON.stringify(messages))
      await conversation.recordRequest({ requestId: turn.view.requestId, messageTokens, ...answer.usage })
      onRequest?.(request)
    },
  }
  return { host, well, servers }
}
