/** Decides whether a client gets every tool, because it defers tools itself. */
import { execFile } from 'node:child_process'
import { accessSync, constants, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path'
import { readSources } from '../shared/clients/client-rules.js'
import type { ClientName, Places } from '../shared/clients/clients.js'
import { valueAt } from '../shared/clients/read-client.js'
import { RULE_READERS } from '../shared/clients/rule-readers.js'
import type { Source } from '../shared/clients/rule-source.js'

export interface ChosenMode {
  readonly isAll: boolean
  /** A clause. */
  readonly why: string
}

type Env = Places['env']

interface Deferring {
  /** The first version that was measured. */
  readonly since: string
  readonly command: string
  /** Why the settings do not defer for sure. Undefined if they do. */
  readonly obstacle: (get: (...path: string[]) => unknown, env: Env) => string | undefined
}

/** Clients that hide the gateway's own tools behind their search, as measured with real clients. */
const DEFERRING: Partial<Record<ClientName, Deferring>> = {
  'claude-code': {
    since: '2.1.325',
    command: 'claude',
    obstacle(get, env) {
      const set = (name: string) => String(get('env', name) ?? env[name] ?? '')
      const isOn = (name: string) => !/^(?:0|false|no|off)?$/i.test(set(name))
      const search = set('ENABLE_TOOL_SEARCH')
      if (/^(?:0|false|no|off)$/i.test(search) || /^auto(?!:0$)/i.test(search))
        return `ENABLE_TOOL_SEARCH is ${JSON.stringify(search)}`
      for (const name of ['CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS', 'CLAUDE_CODE_USE_VERTEX'])
        if (isOn(name)) return `${name} is set`
      const model = String(get('model') ?? set('ANTHROPIC_MODEL'))
      if (/claude-3/.test(model)) return `the model ${model} cannot search tools`
      return isListed(get('permissions', 'deny'), 'ToolSearch') ? 'a rule denies ToolSearch' : undefined
    },
  },
  codex: {
    since: '0.166.0',
    command: 'codex',
    obstacle(get) {
      if (get('features', 'tool_search') === false) return 'features.tool_search is false'
      const [provider, model] = [get('model_provider') ?? 'openai', get('model')]
      if (provider !== 'openai' && model === undefined) return `the models of ${String(provider)} are unknown`
      // The name decides, whatever the provider. Every model in the list of Codex 0.166 searches tools.
      const isKnown = model === undefined || /^gpt-(?:5\.[5-9]|[6-9])/.test(String(model))
      return isKnown ? undefined : `the model ${String(model)} is not known to search tools`
    },
  },
  qwen: {
    since: '0.24.0',
    command: 'qwen',
    obstacle(get) {
      if (get('tools', 'toolSearch', 'enabled') === false) return 'tools.toolSearch.enabled is false'
      const lists = [get('permissions', 'deny'), get('tools', 'exclude'), get('tools', 'disabled')]
      const off = ['tool_search', 'tool_call'].find((name) => lists.some((list) => isListed(list, name)))
      return off === undefined ? undefined : `a rule denies ${off}`
    },
  },
}

const isListed = (list: unknown, name: string) => Array.isArray(list) && list.includes(name)

/** Undefined for clients that do not defer tools. */
export async function chooseMode(client: string, places: Places): Promise<ChosenMode | undefined> {
  const deferring = DEFERRING[client as ClientName]
  const reader = RULE_READERS[client as keyof typeof RULE_READERS]
  if (!deferring || !reader) return undefined
  const { since, command, obstacle } = deferring
  const version = await findVersion(command, places)
  if (version === undefined) return { isAll: false, why: `the version of ${command} is unknown` }
  if (!isAtLeast(version, since))
    return { isAll: false, why: `${command} ${version} is older than ${since}, which was measured` }
  // The entry counts in every folder, so project settings do not.
  const user = { ...places, folder: places.home }
  let sources: readonly Source[]
  try {
    sources = await readSources(reader.files(user), user)
  } catch {
    return { isAll: false, why: 'its settings cannot be read' }
  }
  const get = (...path: string[]) =>
    sources.map(({ value }) => valueAt(value, path)).findLast((value) => value !== undefined)
  const why = obstacle(get, places.env)
  return why === undefined
    ? { isAll: true, why: `${command} ${version} defers tools itself` }
    : { isAll: false, why }
}

function isAtLeast(version: string, least: string): boolean {
  const [a, b] = [version, least].map((each) => each.split('.').map(Number))
  const at = b?.findIndex((part, index) => part !== (a?.[index] ?? 0)) ?? -1
  return at < 0 || (a?.[at] ?? 0) > (b?.[at] ?? 0)
}

/** Milliseconds for `CLIENT --version`. */
const PATIENCE = 5000

/** Reads the version from the package of the command, or asks the command. */
async function findVersion(command: string, places: Places): Promise<string | undefined> {
  const { env } = places
  const file = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isOfProject(folder, places))
    .map((folder) => join(folder, command))
    .find(isExecutable)
  if (file === undefined) return undefined
  return readPackageVersion(file, command) ?? (await askVersion(file, env))
}

/** A program of the current project, which npx puts first on the PATH, may be a stranger's. */
function isOfProject(path: string, { folder, home }: Places): boolean {
  const isInside = (inner: string, outer: string) => `${inner}${sep}`.startsWith(join(outer, sep))
  const root = path.replace(/[\\/]node_modules[\\/]\.bin[\\/]?$/, '')
  return (isInside(path, folder) && !isInside(home, folder)) || (root !== path && isInside(folder, root))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** npm links a command to a file in its package. */
function readPackageVersion(file: string, command: string): string | undefined {
  let folder = dirname(realpathSync(file))
  for (let up = 0; up < 3; up++, folder = dirname(folder))
    try {
      const { version, bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      if (typeof version === 'string' && typeof bin === 'object' && bin && command in bin)
        return /^\d+\.\d+\.\d+/.exec(version)?.[0]
    } catch {
      // Another folder, or a native program.
    }
  return undefined
}

function askVersion(file: string, env: Env): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = execFile(file, ['--version'], { env, timeout: PATIENCE }, (_, output) =>
      resolve(/\d+\.\d+\.\d+/.exec(output)?.[0]),
    )
    child.stdin?.end()
  })
}
