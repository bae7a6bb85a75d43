/** What the proof and the process it kills have in common: workspace, tools, host options. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createToolwell, type DeliveryName, type Tokenizer, type ToolwellEvent } from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { delegate, type HostOptions } from '../host.ts'
import { createWorkshop } from '../workshop/index.ts'

export interface Setup {
  readonly folder: string
  readonly url: string
  readonly delivery: DeliveryName
  readonly tokenizer: Tokenizer
  readonly onEvent?: (event: ToolwellEvent) => void
  readonly onRequest?: NonNullable<HostOptions['onRequest']>
}

/** A small project with a bug in it, and its first commit. */
export async function seedWorkspace(folder: string): Promise<void> {
  await mkdir(join(folder, 'workspace', 'src'), { recursive: true })
  const write = (path: string, text: string) => writeFile(join(folder, 'workspace', path), text)
  await write('package.json', '{\n  "name": "acorn-invoices",\n  "version": "1.4.0"\n}\n')
  await write(
    'src/invoice.js',
    'export function total(items) {\n  let sum = 0\n  for (let i = 0; i < items.length - 1; i++) sum += items[i].price\n  return sum\n}\n',
  )
}

export function createProofHost({
  folder,
  url,
  delivery,
  tokenizer,
  onEvent,
  onRequest,
}: Setup): HostOptions {
  const workshop = createWorkshop(join(folder, 'workspace'))
  const well = createToolwell({
    tools: [...workshop.ownTools, delegate],
    // Said, so that the proof is about deferral whatever the break-even is for this catalogue.
    mode: 'on',
    delivery,
    tokenizer,
    store: jsonlStore(join(folder, 'sessions')),
    // One predicate for cards, search, activation and calls: nobody publishes from here.
    policy: ({ id }) => id !== 'release/publish_release',
    ...(onEvent ? { onEvent } : {}),
  })
  for (const { name, description, tools } of workshop.servers)
    well.catalogue.setSource(name, { description, tools })
  return {
    well,
    servers: { 'openai-chat': { url, model: 'scripted' } },
    folder: join(folder, 'sessions'),
    system: 'You are a careful engineer. You work on the project in the current folder.',
    approve: ({ name }) => name !== 'send_draft',
    countTokens: (text) => tokenizer.count(text),
    ...(onRequest ? { onRequest } : {}),
  }
}
