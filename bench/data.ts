/** Tools for benchmarks: real definitions if the data folder exists, otherwise generated ones. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonSchema, Tool } from '@toolwell/core'

export interface Corpus {
  readonly tools: readonly Tool[]
  readonly origin: string
}

/** Origin of generated tools. */
export const GENERATED = 'generated'

/** `tools/list` results, one file per server, in DIR/mcp-catalog. */
export async function loadCorpus(data: string | undefined): Promise<Corpus> {
  const folder = data === undefined ? undefined : join(data, 'mcp-catalog')
  const files = folder
    ? (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.json')).sort()
    : []
  if (!folder || files.length === 0) {
    process.stdout.write(
      `No tools in ${folder ?? 'the data folder'}; using generated ones. See bench/README.md.\n`,
    )
    return { tools: generate(2000), origin: GENERATED }
  }
  const tools: Tool[] = []
  for (const file of files) {
    const { result } = JSON.parse(await readFile(join(folder, file), 'utf8')) as {
      result: { tools: ListedTool[] }
    }
    const source = file.replace(/\.json$/, '')
    const seen = new Set<string>()
    for (const { name, description = '', inputSchema, annotations } of result.tools) {
      if (seen.has(name)) continue
      seen.add(name)
      tools.push({ name, description, inputSchema, source, ...(annotations ? { annotations } : {}) })
    }
  }
  return { tools, origin: `mcp-catalog (${files.length} servers)` }
}

interface ListedTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: JsonSchema
  readonly annotations?: Tool['annotations']
}

/** `size` tools: the corpus, repeated with rotated words in names and descriptions. */
export function atSize(tools: readonly Tool[], size: number): Tool[] {
  return Array.from({ length: size }, (_, index) => {
    const tool = tools[index % tools.length] as Tool
    const round = Math.floor(index / tools.length)
    if (round === 0) return tool
    const words = tool.description.split(' ')
    const turned = [...words.slice(round % words.length), ...words.slice(0, round % words.length)].join(' ')
    return { ...tool, name: `${tool.name}_${round}`, description: turned, source: `${tool.source}_${round}` }
  })
}

const VERBS = ['create', 'list', 'get', 'update', 'delete', 'search', 'export', 'import', 'merge', 'archive']
const NOUNS = [
  'invoice',
  'ticket',
  'calendar event',
  'file',
  'branch',
  'message',
  'contact',
  'dashboard',
  'pipeline',
  'bucket',
]

/** Servers with terse, medium and long descriptions, as real ones: about 400 tokens per tool. */
const SERVERS = [
  { fields: 2, spread: 3, words: 1 },
  { fields: 7, spread: 9, words: 4 },
  { fields: 6, spread: 7, words: 2 },
]
const REMARKS = [
  'Left out, it is what the workspace has set.',
  'At most 200 characters, without line breaks.',
  'Only members with the right to change it may give another one.',
]

function generate(count: number): Tool[] {
  return Array.from({ length: count }, (_, index): Tool => {
    const verb = VERBS[index % VERBS.length] as string
    const noun = NOUNS[Math.floor(index / VERBS.length) % NOUNS.length] as string
    const area = Math.floor(index / 100)
    const server = Math.floor(index / 40)
    const { fields, spread, words } = SERVERS[server % SERVERS.length] as (typeof SERVERS)[number]
    const properties = Object.fromEntries(
      Array.from({ length: fields + (index % spread) }, (_, field) => [
        `${noun.split(' ')[0]}_field_${field}`,
        {
          type: field % 3 === 0 ? 'integer' : 'string',
          description: [
            `Field ${field} of the ${noun} that is meant by ${verb}.`,
            ...REMARKS.slice(0, words - 1),
          ].join(' '),
        },
      ]),
    )
    return {
      name: `${verb}_${noun.replace(' ', '_')}_${area}`,
      description: [
        `${verb[0]?.toUpperCase()}${verb.slice(1)} a ${noun} in area ${area}.`,
        ...REMARKS.slice(0, words - 1),
      ].join(' '),
      inputSchema: { type: 'object', properties, required: Object.keys(properties).slice(0, 2) },
      source: `server_${server}`,
    }
  })
}
