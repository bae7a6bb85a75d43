/** What a workspace adds in files: kinds of sub-agents as markdown, plugins as modules. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { JsonSchema, SurfaceOptions } from '@toolwell/core'

/** A kind of sub-agent: the front matter of its file, and the text below it. */
export interface AgentKind {
  readonly name: string
  readonly description: string
  /** The only tools it may use; all of its parent's when absent. */
  readonly tools?: readonly string[]
  /** Whether it starts with what its parent has loaded. */
  readonly inherit_active_mcp: boolean
  readonly prompt: string
}

export interface Plugin {
  /** Changes `output` in place. The same tool has to give the same output every time. */
  readonly 'tool.definition'?: (
    input: { readonly toolID: string },
    output: { description: string; parameters: JsonSchema },
  ) => void
}

/** Paths of the files with such an ending, in order of name; none where there is no folder. */
async function filesIn(folder: string, ending: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => ending.test(name))
    .sort()
    .map((name) => join(folder, name))
}

export async function readAgents(folder: string): Promise<AgentKind[]> {
  const files = await filesIn(folder, /\.md$/)
  return Promise.all(files.map(async (file) => readAgent(await readFile(file, 'utf8'), file)))
}

const KEYS = ['name', 'description', 'tools', 'inherit_active_mcp']

/** Front matter as such files have it: `key: value`, and a list as `[a, b]` or `a, b`. */
export function readAgent(text: string, file: string): AgentKind {
  const refuse = (what: string) => new Error(`${file}: ${what}`)
  const [, front = '', prompt = ''] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n([\s\S]*))?$/.exec(text) ?? []
  const fields = new Map<string, string>()
  for (const line of front.split(/\r?\n/).filter((each) => each.trim() !== '')) {
    const [, key = '', value = ''] = /^(\w+):\s*(.*?)\s*$/.exec(line) ?? []
    if (!KEYS.includes(key)) throw refuse(`${JSON.stringify(line)} is not known. Known: ${KEYS.join(', ')}.`)
    fields.set(key, value.replace(/^(["'])(.*)\1$/, '$2'))
  }
  const name = fields.get('name')
  const tools = fields.get('tools')?.replace(/^\[(.*)\]$/, '$1')
  const inherits = fields.get('inherit_active_mcp') ?? 'true'
  if (!name) throw refuse('it has no front matter with a name.')
  if (!/^(?:true|false)$/.test(inherits)) throw refuse('inherit_active_mcp is true or false.')
  return {
    name,
    description: fields.get('description') ?? '',
    ...(tools === undefined ? {} : { tools: tools.split(',').map((tool) => tool.trim()) }),
    inherit_active_mcp: inherits === 'true',
    prompt: prompt.trim(),
  }
}

/** Modules that export `plugin`. */
export async function readPlugins(folder: string): Promise<Plugin[]> {
  const files = await filesIn(folder, /\.m?js$/)
  return Promise.all(
    files.map(async (file) => {
      const { plugin } = (await import(pathToFileURL(file).href)) as { plugin?: Plugin }
      if (plugin) return plugin
      throw new Error(`${file} exports no \`plugin\`.`)
    }),
  )
}

/** One place for all of them: search answers and requests show the same definition. */
export function transformWith(plugins: readonly Plugin[]): Pick<SurfaceOptions, 'transformDefinition'> {
  const hooks = plugins.flatMap((plugin) => plugin['tool.definition'] ?? [])
  if (hooks.length === 0) return {}
  return {
    transformDefinition({ name, description, inputSchema, source }) {
      const output = { description, parameters: structuredClone(inputSchema) }
      for (const hook of hooks) hook({ toolID: source ? `${source}/${name}` : name }, output)
      return { description: output.description, inputSchema: output.parameters }
    },
  }
}
