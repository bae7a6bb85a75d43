/**
 * The tools that the SDK is given: all there are, once, because it takes none later. They are how it runs a call and what
 * its hooks see; which of them a request declares is decided in `declare`.
 */
import type { Catalogue, Entry } from '../../catalogue/catalogue.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import { type AiSchema, openSchema } from './schema.js'
import { importedOf } from './tools.js'
import type { AiExecuteOptions } from './types.js'

/** A tool as this adapter gives it to the SDK. Those that were written for the SDK keep the kind they have there. */
export interface AiTool {
  readonly type: 'dynamic'
  readonly description?: string
  readonly inputSchema: AiSchema
  readonly execute?: (input: unknown, options: AiExecuteOptions) => Promise<unknown>
}

export interface RegistryHost {
  readonly loader: string
  /** Whether the host runs tools that have no `execute`. */
  readonly runsAll: boolean
  run(name: string, input: unknown, options: AiExecuteOptions): Promise<unknown>
  /** `asked`: what the SDK, or a framework on top of it, gives `toModelOutput`. */
  modelOutput(name: string, entry: Entry | undefined, asked: unknown): unknown
}

export interface Registry {
  /** Grows when tools arrive; give it to the SDK as it is. */
  readonly tools: Record<string, AiTool>
  /** Adds what has arrived. */
  update(): void
  /** Whether Toolwell runs the tool of this name. */
  has(name: string): boolean
  isMeta(name: string): boolean
  /** Whether requests declare the tool under this name while deferral is on. */
  isWireName(name: string): boolean
  entryOf(name: string): Entry | undefined
  /** The name under which the SDK has the tool that is meant. */
  nameOf(asked: string): string | undefined
}

/** What a host's tool has besides a definition, for the SDK and its hooks. */
const KEPT = [
  'title',
  'metadata',
  'providerOptions',
  'strict',
  'inputExamples',
  'outputSchema',
  'contextSchema',
  'onInputStart',
  'onInputDelta',
  'onInputAvailable',
]

export function createRegistry(
  catalogue: Catalogue,
  beside: Readonly<Record<string, object>>,
  host: RegistryHost,
): Registry {
  // Without a prototype: a tool may be called `__proto__` or `constructor`.
  const tools: Record<string, AiTool> = Object.assign(Object.create(null), beside)
  const ids = new Map<string, string>()
  let revision = -1
  const meta = new Set([host.loader, BRIDGE_NAME])

  const add = (name: string, id: string) => {
    if (name in tools) return
    ids.set(name, id)
    tools[name] = createTool(name, () => catalogue.get(id), host)
  }
  const update = () => {
    if (revision === catalogue.revision) return
    revision = catalogue.revision
    const entries = [...catalogue.entries()]
    const own = new Set(catalogue.hostTools)
    for (const { wireName, id } of entries) add(wireName, id)
    // While deferral is off, a host's own tools go by the names it gave them.
    for (const { tool, id } of entries) if (own.has(tool)) add(tool.name, id)
  }
  for (const name of meta) tools[name] = createTool(name, () => undefined, host)
  update()

  const entryOf = (name: string) => catalogue.get(ids.get(name) ?? '')
  return {
    tools,
    update,
    has: (name) => ids.has(name) || meta.has(name),
    isMeta: (name) => meta.has(name),
    isWireName: (name) => meta.has(name) || entryOf(name)?.wireName === name,
    entryOf,
    nameOf(asked) {
      if (ids.has(asked)) return entryOf(asked)?.wireName
      const resolution = meta.has(asked) ? undefined : catalogue.resolve(asked, () => true)
      return resolution?.kind === 'found' ? resolution.entry.wireName : undefined
    },
  }
}

/** Reads the catalogue when it is asked: a definition may change, and most tools of a large catalogue are never called. */
function createTool(name: string, entry: () => Entry | undefined, host: RegistryHost): AiTool {
  const tool = entry()?.tool
  const imported = tool && importedOf(tool)
  const runs = !tool || host.runsAll || tool.execute || imported?.tool.execute
  const kept = KEPT.flatMap((key) => {
    const value: unknown = imported?.tool[key as keyof typeof imported.tool]
    return value === undefined ? [] : [[key, value]]
  })
  const made = {
    ...Object.fromEntries(kept),
    ...(imported ? { type: imported.tool.type } : { type: 'dynamic' }),
    get description() {
      const own = imported?.tool.description
      return typeof own === 'function' ? own : (entry()?.tool.description ?? '')
    },
    get inputSchema() {
      return openSchema(entry()?.tool.inputSchema ?? { type: 'object', properties: {} }, imported?.check)
    },
    toModelOutput: (asked: unknown) => host.modelOutput(name, entry(), asked),
    ...(runs
      ? { execute: (input: unknown, options: AiExecuteOptions) => host.run(name, input, options) }
      : {}),
    ...(imported?.tool.needsApproval === undefined
      ? {}
      : { needsApproval: (input: unknown, options: unknown) => needsApproval(entry(), input, options) }),
  }
  return made as unknown as AiTool
}

/** Asked with the input that the tool will get. One that does not fit is not run, so nobody has to approve it. */
async function needsApproval(entry: Entry | undefined, input: unknown, options: unknown): Promise<boolean> {
  const imported = entry && importedOf(entry.tool)
  const rule = imported?.tool.needsApproval
  if (typeof rule !== 'function') return rule === true
  try {
    return (await rule(await imported?.check(input), options)) === true
  } catch {
    return false
  }
}
