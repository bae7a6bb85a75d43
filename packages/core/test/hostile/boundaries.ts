/**
 * Every text that crosses the trust boundary, each with what must hold whatever is written there. A check throws where it
 * does not; nothing else may throw, but the documented error.
 */

import {
  createToolwell,
  memoryStore,
  type SearchTool,
  searchTools,
  type Tool,
  ToolwellError,
  type ToolwellOptions,
} from '@toolwell/core'
import { fitWire } from '@toolwell/core/internal'
import { applyManifest, readManifest } from '@toolwell/core/manifest'
import fc from 'fast-check'
import { hostileJson, hostileSchema, hostileText, mutation, plain, UNSEEN } from './texts.js'
import { type Line, WIRES, type Wire } from './wires.js'

export interface Boundary {
  readonly name: string
  /** The property under test, in words. */
  readonly oracle: string
  readonly property: fc.IAsyncProperty<unknown[]>
}

export const define = <T>(
  name: string,
  oracle: string,
  arbitrary: fc.Arbitrary<T>,
  check: (given: T) => Promise<void>,
): Boundary => ({
  name,
  oracle,
  property: fc.asyncProperty(arbitrary, check) as unknown as Boundary['property'],
})

export function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Text by Toolwell: quoted as data, without invisible characters, and with no frame that Toolwell did not open. */
export function assertSeen(text: string, where: string): void {
  const found = UNSEEN.exec(text)
  assert(
    found === null,
    `${where} holds U+${found?.[0].codePointAt(0)?.toString(16)}: ${JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 40), (found?.index ?? 0) + 20))}`,
  )
}

function assertFrames(text: string, where: string): void {
  const opened = text.split('<tool-update>').length
  const closed = text.split('</tool-update>').length
  assert(opened === closed && opened <= 2, `${where} opens ${opened - 1} and closes ${closed - 1} frames`)
}

export const wire = fc.constantFrom<Wire>(...WIRES)
const delivery = fc.constantFrom('append' as const, 'bridge' as const, 'native' as const, 'eager' as const)
let ledgers = 0

/** A conversation on one wire. Checks every request against the strict rules, and every text Toolwell wrote. */
export async function host(
  given: Wire,
  options: ToolwellOptions,
  prepare: (well: ReturnType<typeof createToolwell>) => void = () => {},
) {
  const well = createToolwell({ mode: 'on', store: memoryStore(), ...options })
  prepare(well)
  const conversation = await well.open({ id: `ledger ${++ledgers}` })
  const line: Line = given.open(conversation)
  const messages: object[] = [given.user('Begin.')]
  let calls = 0
  const begin = async () => {
    const turn = await line.begin(messages, {})
    const refused = given.violationOf(turn.parts)
    assert(refused === undefined, `a strict endpoint refuses the request: ${refused}`)
    const { view } = turn
    for (const { name, description } of view.mode === 'off'
      ? []
      : view.tools.filter(({ name }) => name === view.loader || name === view.bridge))
      assertSeen(description, `the description of ${name}`)
    assertSeen(view.section, 'the section')
    for (const { text } of view.inserts) {
      assertSeen(text, 'an update')
      assertFrames(text, 'an update')
    }
    return turn
  }
  const run = async (...made: readonly { readonly name: string; readonly arguments: unknown }[]) => {
    const turn = await begin()
    const asObjects = made.map((call) => ({ ...call, id: `call_${++calls}` }))
    const { reply, messages: said } = given.reply(turn.parts, { calls: asObjects }, calls)
    const ran = await turn.run(reply)
    messages.push(...said, ...ran.messages)
    for (const { outcome, text } of ran.answers)
      if (outcome.kind !== 'result' && outcome.kind !== 'error')
        assertSeen(text, `the answer ${outcome.kind}`)
    return ran.answers
  }
  return { well, conversation, line, messages, begin, run }
}

export const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties: { value: { type: 'string' } } },
  execute: () => 'done',
  ...more,
})

const base = (): Tool[] => [
  tool('read_file'),
  tool('create_issue', { source: 'tracker', aliases: ['make_issue'] }),
  tool('close_issue', { source: 'tracker' }),
  tool('enter', { source: 'git', group: 'worktree' }),
  tool('leave', { source: 'git', group: 'worktree' }),
]

const LEGAL = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

const names = define(
  'names of tools, sources, groups and aliases',
  'an invalid tool is rejected with a documented error; every other tool gets a unique legal wire name, is found by its id and its wire name, and appears in requests that strict endpoints accept',
  fc.tuple(
    fc.array(
      fc.tuple(hostileText, hostileText, fc.option(hostileText), fc.array(hostileText, { maxLength: 2 })),
      { minLength: 1, maxLength: 6 },
    ),
    wire,
    delivery,
  ),
  async ([given, on, how]) => {
    const bySource = new Map<string, Tool[]>()
    for (const [source, name, group, aliases] of given)
      bySource.set(source, [
        ...(bySource.get(source) ?? []),
        tool(name, { aliases, ...(group === null ? {} : { group }) }),
      ])
    const played = await host(on, { tools: [tool('read_file')], delivery: how }, ({ catalogue }) => {
      for (const [source, tools] of bySource)
        if (source !== 'toolwell' && source !== '') catalogue.setSource(source, { tools })
    })
    const { catalogue } = played.well
    const entries = [...catalogue.entries()]
    assert(
      entries.every(({ wireName }) => LEGAL.test(wireName)),
      `an illegal wire name: ${JSON.stringify(entries.map((each) => each.wireName))}`,
    )
    assert(
      new Set(entries.map(({ wireName }) => wireName)).size === entries.length,
      'two tools share a wire name',
    )
    for (const entry of entries)
      for (const key of [entry.id, entry.wireName]) {
        const found = catalogue.resolve(key, () => true)
        const meant = found.kind === 'found' ? [found.entry] : found.kind === 'none' ? [] : found.entries
        assert(
          meant.some(({ id }) => id === entry.id),
          `${JSON.stringify(key)} does not mean ${JSON.stringify(entry.id)}`,
        )
      }
    const some = entries.slice(0, 3).map(({ wireName }) => ({ name: wireName, arguments: { value: 'x' } }))
    await played.run(...some, {
      name: 'tool_search',
      arguments: { query: entries.map(({ id }) => `+${JSON.stringify(id)}`).join(' ') },
    })
    const all = await played.run({
      name: 'tool_search',
      arguments: { query: `select:${entries.map(({ id }) => JSON.stringify(id)).join(',')}` },
    })
    if (how !== 'eager') {
      assert(all[0]?.outcome.kind === 'search', 'a search gave no answer')
      const { loadedLazyTools } = played.conversation.inspect()
      const hidden = entries.filter(({ source }) => source !== '').length
      assert(
        loadedLazyTools.length === hidden,
        `${hidden - loadedLazyTools.length} tools cannot be selected by their ids`,
      )
    }
    await played.begin()
  },
)

const words = define(
  'descriptions, cards, hints, guidelines and titles',
  'requests are legal; text by Toolwell contains no invisible character and no foreign frame; a loaded definition is sent as written',
  fc.tuple(fc.array(hostileText, { minLength: 8, maxLength: 8 }), wire, delivery, fc.boolean()),
  async ([
    [description = '', card = '', hint = '', title = '', rule = '', instead = '', query = '', about = ''],
    on,
    how,
    late,
  ]) => {
    const written: Partial<Tool> = {
      description,
      card,
      searchHint: hint,
      title,
      guidelines: [rule, rule],
      insteadOf: instead,
      domain: title,
      promptSnippet: rule,
    }
    const tools = [
      tool('one', written),
      tool('two', { ...written, group: 'pair' }),
      tool('three', { ...written, group: 'pair', alwaysLoad: true }),
    ]
    const played = await host(
      on,
      { tools: base(), delivery: how, surface: { affordance: 'strong' } },
      ({ catalogue }) => {
        if (!late) catalogue.setSource('wild', { tools, description: about })
      },
    )
    await played.begin()
    if (late) played.well.catalogue.setSource('wild', { tools, description: about })
    await played.run({ name: 'tool_search', arguments: { query } }, { name: 'wild__one', arguments: {} })
    await played.run({ name: 'tool_search', arguments: { query: 'select:wild__one,wild__two' } })
    const { view } = await played.begin()
    const sent = [...view.tools, ...view.declaredHidden].find(({ name }) => name === 'wild__one')
    // On some wires a long description continues in the schema; all of it is there.
    if (sent && how === 'append')
      assert(
        JSON.stringify(sent).includes(JSON.stringify(description.toWellFormed()).slice(1, -1)),
        'a description was changed',
      )
    played.well.catalogue.setSource('wild', {
      tools: tools.map((each) => ({ ...each, description: `${about}${each.description}` })),
    })
    await played.begin()
    played.well.catalogue.removeSource('wild')
    await played.run({ name: 'wild__two', arguments: {} })
    await played.begin()
  },
)

const MOVED = 'The input also has to match '
/** True if one schema means the same as another: equal, or with the keywords its wire rejects at the top moved to the description. */
function says(shown: Schema, given: Schema, on: Wire): boolean {
  const [sent, written] = [meant(shown) as Schema, meant(given) as Schema]
  if (JSON.stringify(sent) === JSON.stringify(written)) return true
  // There names of parameters are made legal, at every depth.
  if (on.name === 'anthropic' && hasOddKeys(written)) return true
  const { $schema: _, ...expected } = written
  const { $schema: __, ...found } = sent
  // OpenAI requires `properties` and `items`; empty ones, and values that are not objects, say nothing.
  const said = (key: string, value: unknown) => {
    if (key === 'items' && JSON.stringify(value) === '{}') return undefined
    if (key !== 'properties') return value
    return typeof value === 'object' && Object.keys(value ?? {}).length > 0 ? value : undefined
  }
  const sorted = (value: object) =>
    JSON.stringify(Object.entries(JSON.parse(JSON.stringify(value, said))).sort())
  if (sorted(found) === sorted(expected)) return true
  const { description: told, ...kept } = found
  const at = typeof told === 'string' ? told.lastIndexOf(MOVED) : -1
  if (typeof told !== 'string' || at < 0) return false
  const moved = meant(JSON.parse(told.slice(at + MOVED.length))) as Schema
  const { description = '', ...rules } = expected
  // A description that is not text said nothing.
  const isWhole = typeof description !== 'string' || told.slice(0, at).trimEnd() === description.trimEnd()
  return isWhole && sorted({ ...kept, ...moved }) === sorted(rules)
}
type Schema = Record<string, unknown>
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']
/** With whole characters, and without what says nothing: properties and items that are empty, keywords that hold what they may not. */
function meant(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(meant)
  const entries = Object.entries(value).filter(([key, each]) => saysSomething(key, each))
  return Object.fromEntries(
    entries.map(([key, each]) => [
      key.toWellFormed(),
      MAPS.includes(key) ? meantMap(each as Schema) : meant(each),
    ]),
  )
}
function meantMap(map: Schema): Schema {
  const entries = Object.entries(map)
  return Object.fromEntries(
    entries.map(([key, each]) => [key.toWellFormed(), isSchema(each) ? meant(each) : {}]),
  )
}
function saysSomething(key: string, value: unknown): boolean {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  if (key === 'items') return !isEmpty && (isSchema(value) || Array.isArray(value))
  if (key === 'properties' && isEmpty) return false
  if (MAPS.includes(key)) return isSchema(value) && typeof value === 'object'
  if (key === 'required') return Array.isArray(value) && value.every((name) => typeof name === 'string')
  return value !== null && (key !== 'additionalProperties' || isSchema(value))
}
function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value))
}
const BY_PROPERTY = ['properties', 'dependentSchemas', 'dependentRequired', 'dependencies']
/** Whether a parameter is named, anywhere, by a name that the wire does not take. */
function hasOddKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, each]) => namesIn(key, each).some(isOdd) || hasOddKeys(each))
}
function namesIn(keyword: string, value: unknown): readonly unknown[] {
  if (keyword === '$ref') return String(value).split('/')
  if (keyword === 'required') return Array.isArray(value) ? value : []
  if (typeof value !== 'object' || value === null) return []
  if (keyword === 'propertyNames') return Object.values(value).flat()
  return BY_PROPERTY.includes(keyword) ? [...Object.keys(value), ...Object.values(value).flat()] : []
}
function isOdd(name: unknown): boolean {
  return typeof name === 'string' && !/^[\w.-]{1,64}$/.test(name)
}

const schemas = define(
  'schemas, and arguments against them',
  'requests are legal on every wire; a call with any arguments has a typed outcome; a shown schema parses back to what was written',
  fc.tuple(hostileSchema, fc.array(hostileJson, { minLength: 2, maxLength: 2 }), wire, delivery),
  async ([inputSchema, [first, second], on, how]) => {
    const copy = JSON.stringify(inputSchema)
    // Keywords that no wire accepts become text, on every wire alike.
    const sound = fitWire({ name: 'wild', description: '', inputSchema }, 'none').own.inputSchema
    const played = await host(on, {
      tools: [tool('eager', { inputSchema }), ...base(), tool('wild', { inputSchema, source: 'far' })],
      delivery: how,
    })
    const asObject = (value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value }
    await played.run(
      { name: 'far__wild', arguments: asObject(first) },
      { name: 'eager', arguments: asObject(second) },
      { name: 'tool_call', arguments: { name: 'far__wild', arguments: asObject(second) } },
    )
    const [answer] = await played.run({ name: 'tool_search', arguments: { query: 'select:far__wild' } })
    const { view } = await played.begin()
    const shown = answer?.text.split('\n').find((line) => line.startsWith('- {'))
    if (shown) {
      const { inputSchema: read } = JSON.parse(shown.slice(2)) as { inputSchema: Record<string, unknown> }
      assert(says(read, sound, on), `a schema was shown as another: ${JSON.stringify(read)}`)
    }
    const sent = view.tools.find(({ name }) => name === 'eager')?.inputSchema ?? {}
    assert(says(sent, sound, on), `a schema is sent as another: ${JSON.stringify(sent)}`)
    assert(JSON.stringify(inputSchema) === copy, 'the schema of the owner was written to')
  },
)

const searchToolList: readonly SearchTool[] = Object.values(searchTools)
const queries = define(
  'queries and the input of every search tool',
  'every input is answered by a search with a typed result and a text without invisible characters, whose first line a new ledger recovers exactly',
  fc.tuple(
    hostileJson,
    hostileText,
    fc.constantFrom(...searchToolList),
    wire,
    fc.constantFrom('append' as const, 'bridge' as const),
  ),
  async ([anything, query, searchTool, on, how]) => {
    const played = await host(on, { tools: base(), delivery: how, search: { tool: searchTool } })
    const input =
      typeof anything === 'object' && anything !== null && !Array.isArray(anything) ? anything : {}
    const asked = [
      plain([
        ...Object.entries(input),
        ['query', query],
        ['name', query],
        ['limit', anything],
        ['max_results', query],
        ['domain', query],
      ]),
      input,
    ]
    const answers = await played.run(...asked.map((each) => ({ name: searchTool.name, arguments: each })))
    assert(
      answers.every(({ outcome }) => outcome.kind === 'search'),
      `a search ended as ${answers.map(({ outcome }) => outcome.kind)}`,
    )
    const { loadedLazyTools } = played.conversation.inspect()
    const other = await host(on, { tools: base(), delivery: how, search: { tool: searchTool } })
    await other.line.importHistory(played.messages)
    const again = other.conversation.inspect().loadedLazyTools
    assert(
      [...again].sort().join() === [...loadedLazyTools].sort().join(),
      `imported ${again}, loaded ${loadedLazyTools}`,
    )
  },
)

const called = define(
  'names and arguments that a model calls with',
  'nothing throws: each call has one typed outcome, and the history with it is legal on its wire and on every other',
  fc.tuple(
    fc.array(fc.tuple(hostileText, hostileJson, hostileText, fc.nat(3)), { minLength: 1, maxLength: 3 }),
    wire,
    wire,
    delivery,
  ),
  async ([made, on, next, how]) => {
    const played = await host(on, { tools: base(), delivery: how })
    const input = (value: unknown, text: string, form: number) => {
      const asText =
        form === 0 ? text : JSON.stringify(form === 1 ? { name: text, arguments: value, load: text } : value)
      if (on.text && form !== 3) return asText
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value }
    }
    const calls = made.map(([name, value, text, form]) => ({
      name: form === 1 ? 'tool_call' : name || 'nobody',
      arguments: input(value, text, form),
    }))
    if (calls.some(({ name }) => name === 'tool_search')) return
    const answers = await played.run(...calls)
    assert(answers.length === calls.length, 'a call was not answered')
    await played.begin()
    const elsewhere = next.open(played.conversation)
    const moved = elsewhere.adopt(played.line.thread(played.messages))
    const { parts } = await elsewhere.begin([...moved, next.user('Go on.')], {})
    const refused = next.violationOf(parts)
    assert(refused === undefined, `after the move a strict endpoint refuses the request: ${refused}`)
  },
)

const MANIFEST = JSON.stringify({
  name: 'x',
  provides: {
    tools: [
      'read_file',
      {
        name: 'create_issue',
        lazy: true,
        aliases: ['a'],
        risk: 'write',
        inputSchema: { type: 'object' },
        guidelines: ['g'],
      },
    ],
  },
})
const manifests = define(
  'manifest JSON',
  'a manifest is read, or rejected with `invalid-manifest` and a file, a path, a message and a fix for each problem; a manifest that was read can be applied to tools',
  fc.oneof(
    fc
      .array(mutation, { minLength: 1, maxLength: 4 })
      .map((changes) => changes.reduce((text, apply) => apply(text), MANIFEST)),
    hostileText,
    fc
      .tuple(hostileJson, hostileJson)
      .map(([a, b]) => JSON.stringify({ provides: { tools: [a, { name: 'x', ...(b as object) }] } })),
  ),
  async (text) => {
    try {
      const manifest = readManifest(text, { file: 'tools.json' })
      applyManifest(base(), manifest, { file: 'tools.json' })
    } catch (error) {
      assert(ToolwellError.is(error), `not a documented error: ${String(error)}`)
      const { code, data } = error as ToolwellError
      assert(code === 'invalid-manifest' || code === 'invalid-tool', `the code is ${code}`)
      const problems = (data.problems ?? []) as { file: string; path: string; message: string; fix: string }[]
      if (code === 'invalid-manifest') {
        assert(problems.length > 0, 'it names no problem')
        for (const { file, path, message, fix } of problems)
          assert(
            file === 'tools.json' && path.startsWith('$') && message !== '' && fix !== '',
            `an incomplete problem: ${JSON.stringify({ file, path, message, fix })}`,
          )
      }
    }
  },
)

export const textBoundaries: readonly Boundary[] = [names, words, schemas, queries, called, manifests]
