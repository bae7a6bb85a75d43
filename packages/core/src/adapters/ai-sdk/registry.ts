/**
 * The tools that the SDK gets: all of them at once, because it takes none later. The SDK runs calls with them, and
 * its hooks see them. `declare` selects the tools of one request.
 */

import { dropUndefined } from '../../base/data.js'
import type { Catalogue, Entry } from '../../catalogue/catalogue.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { fitTool, objectSchema } from '../shared/tools.js'
import { addOptions, deferTool, RESERVE } from './found.js'
import type { NativeWay, Protocol } from './protocol.js'
import { createSearchTool } from './tool-search.js'
import { type AiSchema, createOpenSchema, findImported, writeTextArguments } from './tools.js'
import type { AiExecuteOptions, AiFunction } from './types.js'

/** A tool for the SDK. Tools that were written for the SDK keep their kind. */
export interface AiTool {
  readonly type: 'dynamic'
  readonly description?: string
  readonly inputSchema: AiSchema
  readonly execute?: (input: unknown, options: AiExecuteOptions) => Promise<unknown>
}

export interface RegistryHost {
  readonly loader: string
  /** Whether the host runs tools without `execute`. */
  readonly runsAll: boolean
  run(name: string, input: unknown, options: AiExecuteOptions): Promise<unknown>
  /** `asked`: the argument of `toModelOutput`, from the SDK or a framework on top of it. */
  modelOutput(name: string, entry: Entry | undefined, asked: unknown): unknown
}

export interface Registry {
  /** Grows when tools arrive. Pass this object to the SDK. */
  readonly tools: Record<string, AiTool>
  /** Adds new tools of the catalogue. */
  update(): void
  /** Whether Toolwell runs the tool of this name. */
  has(name: string): boolean
  isMeta(name: string): boolean
  /** Whether requests declare the tool under this name while deferral is on. */
  isWireName(name: string): boolean
  entryOf(name: string): Entry | undefined
  /** The SDK's name of the tool that is meant. */
  nameOf(asked: string): string | undefined
}

/** Fields of a host's tool that the SDK and its hooks use, in addition to the definition. */
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
  providerTools: Readonly<Record<string, object>>,
  host: RegistryHost,
): Registry {
  // Without a prototype: a tool may be called `__proto__` or `constructor`.
  const tools: Record<string, AiTool> = Object.assign(Object.create(null), providerTools)
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
    // While deferral is off, the host's tools keep their own names.
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

/** Reads the catalogue on access: a definition may change, and most tools of a large catalogue are never called. */
function createTool(name: string, entry: () => Entry | undefined, host: RegistryHost): AiTool {
  const tool = entry()?.tool
  const imported = tool && findImported(tool)
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
      return createOpenSchema(
        entry()?.tool.inputSchema ?? { type: 'object', properties: {} },
        imported?.check,
      )
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

/** Asks with the input that the tool will get. Invalid input is not run, so it needs no approval. */
async function needsApproval(entry: Entry | undefined, input: unknown, options: unknown): Promise<boolean> {
  const imported = entry && findImported(entry.tool)
  const rule = imported?.tool.needsApproval
  if (typeof rule !== 'function') return rule === true
  try {
    return (await rule(await imported?.check(input), options)) === true
  } catch {
    return false
  }
}

/** Imported tools as the SDK wrote them. A changed tool waits, and the old one is sent until then. */
const sentTools = new WeakMap<WireTool | Tool, AiFunction>()

export interface Declared {
  readonly tools: readonly AiFunction[]
  /** Tools of the view that the SDK was not given, so it cannot run them. */
  readonly missing: readonly string[]
  /** Tools whose arguments the model writes as text. */
  readonly inText: ReadonlySet<string>
}

type Schema = Readonly<Record<string, unknown>>

/**
 * Selects the tools of one request in the order of the view. `given`: the tools that the SDK would send. Those that are
 * not in the registry come first, unchanged.
 */
export function declareTools(
  given: readonly AiFunction[],
  registry: Pick<Registry, 'has' | 'entryOf'>,
  view: SurfaceView,
  protocol: Protocol,
  prompts: Prompts,
  way?: NativeWay,
): Declared {
  const byName = new Map(given.map((tool) => [tool.name, tool]))
  const missing: string[] = []
  const inText = new Set<string>()
  const schemaOf = (tool: WireTool | Tool): Schema => {
    const text = protocol === 'google' ? writeTextArguments(tool, prompts.bridgeArguments()) : undefined
    if (text) inText.add(tool.name)
    return text ?? objectSchema(fitTool(tool, protocol))
  }
  const code = findCode(given)
  const found = (tool: WireTool | Tool): AiFunction[] => {
    const own = byName.get(tool.name)
    if (!own) missing.push(tool.name)
    if (!own) return []
    // While deferral is off, tools written for the SDK are sent as the SDK writes them.
    if (view.mode === 'off' && findImported(tool)) {
      const isCurrent = registry.entryOf(tool.name)?.tool === tool
      const sent = isCurrent ? own : sentTools.get(tool)
      if (sent) sentTools.set(tool, sent)
      if (sent) return [sent]
    }
    return [allowCallers(writeDefinition(own, tool, schemaOf(tool)), tool, code)]
  }
  const others = given.filter((tool) => !registry.has(tool.name))
  const tools = [...others, ...view.tools.flatMap(found)]
  if (view.delivery !== 'native') return { tools, missing, inText }
  if (way === 'tool-search') {
    view.declaredHidden.forEach(found)
    const loader = view.tools.find(({ name }) => name === view.loader)
    const searching = tools.map((tool) => (tool.name === loader?.name ? createSearchTool(loader) : tool))
    return { tools: searching, missing, inText }
  }
  const reserve = writeDefinition({ type: 'function', name: RESERVE.name }, RESERVE, objectSchema(RESERVE))
  return {
    tools: [...tools, ...[reserve, ...view.declaredHidden.flatMap(found)].map(deferTool)],
    missing,
    inText,
  }
}

/** A tool of the provider that runs code, and the name of this caller in the options of other tools. */
interface Code {
  readonly provider: string
  readonly caller: string
}

/** Finds the tool that runs code, if the host declares one. */
export function findCode(given: readonly AiFunction[]): Code | undefined {
  for (const { id = '' } of given) {
    if (id === 'openai.programmatic_tool_calling') return { provider: 'openai', caller: 'programmatic' }
    const [, caller] = /^anthropic\.(code_execution_.+)/.exec(id) ?? []
    if (caller !== undefined) return { provider: 'anthropic', caller }
  }
  return undefined
}

/** Without a tool that runs code, only the model can call tools. */
function allowCallers(made: AiFunction, { callers }: WireTool | Tool, code: Code | undefined): AiFunction {
  if (!callers || !code) return made
  const allowedCallers = callers.map((caller) => (caller === 'code' ? code.caller : caller))
  return addOptions(made, code.provider, { allowedCallers })
}

/** Takes the whole definition from the view, which is frozen. The other fields are the SDK's. */
function writeDefinition(given: AiFunction, tool: WireTool | Tool, inputSchema: Schema): AiFunction {
  const { strict: _, inputExamples: __, ...own } = given
  const { strict, inputExamples } = tool
  // The SDK computes a dynamic description; such a tool is never deferred.
  const changing = tool.description === '' && own.description !== undefined
  return {
    ...own,
    ...(changing ? {} : { description: tool.description }),
    inputSchema,
    ...dropUndefined({ strict, inputExamples: inputExamples?.map((input) => ({ input })) }),
  }
}
