/** The world around a conversation, as plain facts: which tools there are, at which version, and what policy says. */
import type { Policy, Tool, Toolwell } from '@toolwell/core'

export interface Spec {
  readonly id: string
  readonly source: string
  readonly name: string
  readonly wire: string
  /** Never deferred. */
  readonly eager: boolean
  readonly group?: string
  readonly alias?: string
  /** A word that finds this tool and no other. */
  readonly word: string
  /** It runs and fails. */
  readonly fails?: true
  /** Denied from the first moment to the last: not a byte of it may leave. */
  readonly secret?: true
}

const spec = (source: string, name: string, word: string, more: Partial<Spec> = {}): Spec => ({
  id: source === '' ? name : `${source}/${name}`,
  wire: source === '' ? name : `${source}__${name}`,
  source,
  name,
  word,
  eager: source === '',
  ...more,
})

/** Eager and deferred, alone and in groups, with one short name twice and with names close to a secret one. */
export const UNIVERSE: readonly Spec[] = [
  spec('', 'read', 'pelican'),
  spec('', 'write', 'walrus', { alias: 'store_text' }),
  spec('', 'note', 'ocelot', { eager: false }),
  spec('alpha', 'create', 'giraffe', { alias: 'make_item' }),
  spec('alpha', 'open', 'hedgehog'),
  spec('alpha', 'burst', 'lemming', { fails: true }),
  spec('alpha', 'vaulted', 'sphinx', { secret: true }),
  spec('beta', 'open', 'mongoose'),
  spec('beta', 'watch', 'kestrel', { group: 'pair' }),
  spec('beta', 'unwatch', 'dolphin', { group: 'pair' }),
  spec('beta', 'hush', 'chimera', { group: 'pair', secret: true }),
  spec('beta', 'ping', 'iguana', { eager: true }),
  spec('late', 'fetch', 'toucan'),
  spec('late', 'send', 'wombat', { alias: 'dispatch_it' }),
  spec('late', 'tab_close', 'badger', { group: 'tabs' }),
  spec('late', 'tab_open', 'narwhal', { group: 'tabs' }),
  spec('late', 'tick', 'quokka', { eager: true }),
]
const BY_ID = new Map(UNIVERSE.map((each) => [each.id, each]))

export function specOf(id: string): Spec {
  const found = BY_ID.get(id)
  if (!found) throw new Error(`no such tool: ${id}`)
  return found
}

export type Delivery = 'eager' | 'append' | 'bridge' | 'native'
export interface Rules {
  readonly mode: 'off' | 'on' | 'auto-off' | 'auto-on'
  readonly delivery: Delivery | 'auto'
  readonly maxLoaded: number | undefined
  readonly hiddenCalls: 'load-and-run' | 'hint' | 'refuse'
  /** Absent: the default of each. */
  readonly cards?: 'frozen' | 'live'
  readonly cardPlace?: 'loader' | 'section'
  readonly schemas?: 'once' | 'twice'
  /** A sub-agent: what it may use, what of it is named and so eager, and whether everything is. */
  readonly child?: {
    readonly allow: readonly string[] | undefined
    readonly named: readonly string[]
    readonly all: boolean
  }
}
export type Action = 'see' | 'load' | 'call'
export type SourceState = 'ready' | 'failed' | 'disabled'

export interface World {
  /** The sources: each with its state and the version of each of its tools by id. */
  readonly sources: Map<string, { state: SourceState; readonly tools: Map<string, number> }>
  /** `<process> <source>`: out of reach for one process alone. */
  readonly unreachable: Set<string>
  /** The process whose view counts now. */
  acting: 0 | 1
  /** `<action> <id>`. */
  readonly denied: Set<string>
  versions: number
}

export type WorldStep =
  | { readonly kind: 'come' | 'go' | 'fail' | 'heal' | 'disable' | 'redefine'; readonly source: string }
  /** Out of reach for one process, and in reach again. */
  | { readonly kind: 'cut-off'; readonly source: string; readonly process: 0 | 1 }
  | { readonly kind: 'lose' | 'regain' | 'change'; readonly id: string }
  | { readonly kind: 'deny'; readonly action: Action; readonly id: string }

export const META = ['toolwell/tool_search', 'toolwell/tool_call']

export function createWorld(): World {
  const sources: World['sources'] = new Map()
  for (const { id, source } of UNIVERSE) {
    if (source === 'late') continue
    const known = sources.get(source) ?? { state: 'ready' as const, tools: new Map<string, number>() }
    known.tools.set(id, 1)
    sources.set(source, known)
  }
  const denied = new Set(UNIVERSE.filter((each) => each.secret).map(({ id }) => `see ${id}`))
  return { sources, unreachable: new Set(), acting: 0, denied, versions: 1 }
}

/** Changes the facts; `publish` tells every process of it. */
export function change(world: World, step: WorldStep): void {
  if (step.kind === 'deny') {
    const key = `${step.action} ${step.id}`
    if (!world.denied.delete(key)) world.denied.add(key)
    return
  }
  if ('id' in step) {
    const source = world.sources.get(specOf(step.id).source)
    if (!source) return
    if (step.kind === 'lose') source.tools.delete(step.id)
    else if (step.kind === 'change' && source.tools.has(step.id)) source.tools.set(step.id, ++world.versions)
    else if (step.kind === 'regain' && !source.tools.has(step.id)) source.tools.set(step.id, ++world.versions)
    return
  }
  if (step.kind === 'cut-off') {
    const key = `${step.process} ${step.source}`
    if (!world.unreachable.delete(key)) world.unreachable.add(key)
    return
  }
  const source = world.sources.get(step.source)
  if (step.kind === 'come') {
    const ids = UNIVERSE.filter((each) => each.source === step.source).map(({ id }) => id)
    const tools = new Map(ids.map((id) => [id, source?.tools.get(id) ?? 1]))
    world.sources.set(step.source, { state: 'ready', tools })
  } else if (step.kind === 'go' && step.source !== '') world.sources.delete(step.source)
  else if (source && step.kind === 'fail') source.state = 'failed'
  else if (source && step.kind === 'heal') source.state = 'ready'
  else if (source && step.kind === 'disable') source.state = 'disabled'
  else if (source && step.kind === 'redefine')
    for (const id of source.tools.keys()) source.tools.set(id, ++world.versions)
}

/** Part of the description, and so of a card. */
export const cardMark = ({ source, name }: Spec) => `card-of-${source || 'host'}-${name}.`
/** Part of the schema only. */
export const schemaMark = ({ source, name }: Spec, version: number) =>
  `schema-of-${source || 'host'}-${name}-version-${version}.`

export function toolAt(each: Spec, version: number, ran: string[] = []): Tool {
  const { id, name, alias, group, word, fails } = each
  return {
    name,
    description: `Does things ${cardMark(each)}`,
    inputSchema: {
      type: 'object',
      properties: { value: { type: 'string', description: schemaMark(each, version) } },
      additionalProperties: false,
    },
    searchHint: word,
    ...(each.source === '' ? { defer: !each.eager } : {}),
    ...(each.eager && each.source !== '' ? { alwaysLoad: true } : {}),
    ...(alias === undefined ? {} : { aliases: [alias] }),
    ...(group === undefined ? {} : { group, insteadOf: `use ${cardMark(each)} and nothing else` }),
    execute: () => {
      ran.push(id)
      if (fails) throw new Error('it burst')
      return `ran ${id.length}`
    },
  }
}

/** The host's own tools as of now, for `createToolwell`. */
export const hostTools = (world: World, ran: string[]): Tool[] =>
  [...(world.sources.get('')?.tools ?? [])].map(([id, version]) => toolAt(specOf(id), version, ran))

export const policyOf =
  (world: World): Policy =>
  ({ action, id }) =>
    !world.denied.has(`${action} ${id}`)

/** A source as one process sees it. */
export function stateOf(world: World, name: string, process: 0 | 1): SourceState | undefined {
  const state = world.sources.get(name)?.state
  return state === 'ready' && world.unreachable.has(`${process} ${name}`) ? 'failed' : state
}

/** Makes a process's catalogue say what the world says to it. */
export function publish(
  world: World,
  { catalogue }: Toolwell,
  ran: string[],
  process: 0 | 1,
  only?: string,
): void {
  for (const name of only === undefined ? ['', 'alpha', 'beta', 'late'] : [only]) {
    const source = world.sources.get(name)
    if (!source) catalogue.removeSource(name)
    else
      catalogue.setSource(name, {
        tools: [...source.tools].map(([id, version]) => toolAt(specOf(id), version, ran)),
        state: stateOf(world, name, process) ?? 'ready',
      })
  }
}
