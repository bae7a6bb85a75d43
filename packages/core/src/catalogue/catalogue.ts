/** The catalogue: all tools of all sources, with ids, wire names, groups and a lookup that tolerates spelling. */

import { createPendingWork, type PendingWork } from '../base/async.js'
import { ToolwellError } from '../base/errors.js'
import { shortHash } from '../base/hash.js'
import { addHashSuffix, createWireName, foldName, toolId, type WireNaming } from '../base/names.js'
import { showInvisible } from '../base/text.js'
import { findBareProperties } from '../schema/normalise.js'
import type { Finding, SourceChange, SourceState } from '../tool/source.js'
import { assertTool, assertToolShape, type Tool, throwIfProblem } from '../tool/tool.js'
import {
  assertDistinct,
  assertSource,
  assertStateChange,
  assertUpdate,
  createFinding,
  createSkipped,
  findOddSchema,
  hasSkippedName,
  isSkippedId,
  META,
  type Skipped,
  sortUsableTools,
} from './check-tools.js'
import type { Catalogue, Source, SourceUpdate, StateDetails } from './entry.js'
import { createChanges, createEntry, type Entry } from './entry.js'
import { createLookAlikes, type LookAlikes } from './look-alikes.js'
import { createNameIndex, isOfGroup, type NameIndex, type Resolution } from './name-index.js'

export type { Finding, KeptParts, SourceChange, SourceState, StoredPart } from '../tool/source.js'
export type { Skipped, UnusableTool } from './check-tools.js'
export { META } from './check-tools.js'
export type { Catalogue, Entry, Source, SourceUpdate, StateDetails } from './entry.js'

/** The host's tools have the source with the empty name. */
const HOST = ''
/** Up to this many host tools are added at once, which is fast. More are added in pieces. */
const MOST_AT_ONCE = 1000

export function createCatalogue(
  hostTools: readonly Tool[] = [],
  reserved: Iterable<string> = [],
  onChange?: (change: SourceChange) => void,
  naming?: WireNaming,
): Catalogue {
  const catalogue = new MapCatalogue(new Set(reserved), onChange, naming)
  catalogue.setHostTools(hostTools)
  return catalogue
}

class MapCatalogue implements Catalogue {
  hostTools: readonly Tool[] = []
  #revision = 0
  readonly #sources = new Map<string, Source>()
  readonly #skipped = new Map<string, Skipped>()
  readonly #reserved: ReadonlySet<string>
  readonly #entries = new Map<string, Entry>()
  readonly #wireNames = new Map<string, string>()
  readonly #groups = new Map<string, Set<string>>()
  readonly #removed = new Set<string>()
  readonly #findings = new Map<string, readonly Finding[]>()
  /** Kept for removed sources too. */
  readonly #locked = new Map<string, boolean>()
  /** By locked source and tool: the fingerprint that was seen first or approved last. Kept after the tool or source is removed. */
  readonly #approved = new Map<string, Map<string, string>>()
  /** Tools that did not get their plain wire name, by id. */
  readonly #renamed = new Map<string, Finding>()
  readonly #looks: LookAlikes
  readonly #onChange: ((change: SourceChange) => void) | undefined
  readonly #naming: WireNaming | undefined
  readonly #names: NameIndex = createNameIndex((id) => this.#entries.get(id))
  readonly #waiters = new Set<() => void>()
  /** Adds the remaining host tools. */
  #pendingHostTools: PendingWork | undefined
  readonly #changes = createChanges()

  constructor(
    reserved: ReadonlySet<string>,
    onChange: ((change: SourceChange) => void) | undefined,
    naming: WireNaming | undefined,
  ) {
    this.#reserved = reserved
    this.#looks = createLookAlikes(reserved, META)
    this.#onChange = onChange
    this.#naming = naming
  }

  get revision() {
    this.#finishHostTools()
    return this.#revision
  }

  get sources() {
    this.#finishHostTools()
    return this.#sources
  }

  get skippedTools() {
    this.#finishHostTools()
    return this.#skipped
  }

  get size() {
    this.#finishHostTools()
    return this.#entries.size
  }

  get findings() {
    this.#finishHostTools()
    return [...[...this.#findings.values()].flat(), ...this.#listNameFindings(), ...this.#names.broken]
  }

  /** Findings about pairs of names. They depend on all current names, so they are computed again each time. */
  #listNameFindings(): Finding[] {
    return [...this.#renamed.values(), ...this.#looks.findings]
  }

  entries() {
    this.#finishHostTools()
    return this.#entries.values()
  }

  get(id: string) {
    this.#finishHostTools()
    return this.#entries.get(id)
  }

  skipped(name: string) {
    return [...this.skippedTools.values()].find((each) => hasSkippedName(each, name))
  }

  setHostTools(tools: readonly Tool[]) {
    const isLate = tools.length > MOST_AT_ONCE
    for (const tool of tools) {
      ;(isLate ? assertToolShape : assertTool)(tool)
      throwIfProblem(tool, findBareProperties(tool.inputSchema))
    }
    this.hostTools = tools
    // The host's tools first, in any order of the array: prompts use their plain names.
    const bySource = new Map<string, Tool[]>([[HOST, []]])
    for (const tool of tools) {
      const source = tool.source ?? HOST
      const members = bySource.get(source)
      if (members) members.push(tool)
      else bySource.set(source, [tool])
    }
    for (const [name, members] of bySource) {
      assertSource(name)
      assertDistinct(name, members)
    }
    this.#pendingHostTools = createPendingWork(this.#putHostTools(bySource, isLate))
    if (!isLate) this.#finishHostTools()
  }

  *#putHostTools(bySource: ReadonlyMap<string, readonly Tool[]>, isLate: boolean): Generator<void> {
    for (const [name, tools] of bySource) {
      for (const tool of isLate ? tools : []) yield assertTool(tool)
      if (tools.length > 0) yield* this.#replace(name, { tools }, true)
    }
    const [broken] = this.#names.broken
    if (broken)
      throw new ToolwellError('invalid-tool', broken.detail, { tool: broken.tool, problem: broken.detail })
  }

  #finishHostTools() {
    if (this.#pendingHostTools?.finish()) this.#pendingHostTools = undefined
  }

  async ready() {
    await this.#pendingHostTools?.inPieces()
  }

  setSource(name: string, update: SourceUpdate) {
    this.#finishHostTools()
    assertUpdate(name, update)
    for (const _ of this.#replace(name, update, false));
  }

  /** Yields after each tool. `isChecked`: all tools were checked before. */
  *#replace(name: string, update: SourceUpdate, isChecked: boolean): Generator<void> {
    const previous = this.#sources.get(name)
    const locked = update.locked ?? this.#locked.get(name) ?? false
    this.#locked.set(name, locked)
    const { tools: next, findings, skipped } = sortUsableTools(name, update.tools, update.unusable, isChecked)

    this.#revision++
    const before = this.#revision - 1
    const known = new Set(this.#onChange ? this.#listNameFindings().map(({ detail }) => detail) : [])
    if (!previous && name !== HOST) this.#looks.putSource(name)
    const ids = new Set<string>()
    const quarantined = new Set(update.quarantined)
    for (const [toolName, tool] of next) {
      if (tool.canonicalName !== undefined && tool.canonicalName !== toolName) continue
      const id = toolId(name, toolName)
      ids.add(id)
      const odd = findOddSchema(tool)
      if (odd !== undefined) findings.push(createFinding('odd-schema', name, toolName, odd))
      yield this.#put(id, name, tool, locked, quarantined.has(toolName))
    }
    for (const id of previous?.ids ?? []) if (!ids.has(id)) this.#drop(id)
    this.#names.setDeprecated(name, next)
    this.#findings.set(name, findings)
    this.#removeSkipped(name)
    for (const [index, each] of skipped.entries()) {
      const wireName = createWireName(name, each.name, this.#reserved, this.#naming)
      const made = createSkipped(name, wireName, each, each.finding, index)
      this.#skipped.set(made.entry.id, made)
      this.#touch(made.entry.id)
    }
    this.#sources.set(name, {
      name,
      description: update.description ?? previous?.description ?? '',
      state: update.state ?? previous?.state ?? 'ready',
      advice: update.advice ?? (update.state === undefined ? previous?.advice : undefined) ?? '',
      locked,
      ids,
      membership: shortHash([...ids].sort().join('\n')),
      tentative: update.tentative ?? false,
      ...(update.kept ? { kept: update.kept } : {}),
      ...(update.wake ? { wake: update.wake } : {}),
    })
    // Computed only if there is a listener.
    const fresh = this.#onChange ? this.#listNameFindings().filter(({ detail }) => !known.has(detail)) : []
    const moved = this.#sources.get(name)?.state !== previous?.state
    this.#report(name, before, [...findings, ...fresh], moved, update.reason)
  }

  setState(name: string, state: SourceState, details: StateDetails = {}) {
    this.#finishHostTools()
    assertStateChange(name, state, details, [...this.#sources.keys(), ...this.#removed])
    const { advice = '', tentative = false, reason } = details
    const source = this.#sources.get(name)
    if (!source) return
    if (source.state === state && source.advice === advice && source.tentative === tentative) return
    this.#revision++
    this.#sources.set(name, { ...source, state, advice, tentative })
    for (const id of source.ids) this.#touch(id)
    this.#report(name, this.#revision - 1, [], source.state !== state, reason)
  }

  removeSource(name: string) {
    this.#finishHostTools()
    const source = this.#sources.get(name)
    if (!source) return
    this.#revision++
    for (const id of source.ids) this.#drop(id)
    this.#names.setDeprecated(name, new Map())
    this.#findings.delete(name)
    this.#removeSkipped(name)
    if (name !== HOST) this.#looks.removeSource(name)
    this.#sources.delete(name)
    this.#removed.add(name)
    this.#report(name, this.#revision - 1, [])
  }

  addMeta(tool: Tool) {
    this.#finishHostTools()
    const id = toolId(META, tool.name)
    if (this.#entries.has(id)) return
    this.#revision++
    this.#put(id, META, tool, false, false)
  }

  approve(id: string) {
    const entry = this.get(id)
    if (!entry?.quarantined) return
    this.#revision++
    this.#entries.set(
      id,
      createEntry(entry.id, entry.wireName, entry.source, entry.tool, false, entry.replaced),
    )
    this.#approved.get(entry.source)?.set(id, entry.fingerprint)
    this.#touch(id)
    this.#report(entry.source, this.#revision - 1, [])
  }

  #report(name: string, before: number, findings: readonly Finding[], moved = false, reason = '') {
    for (const waiter of [...this.#waiters]) waiter()
    if (!this.#onChange) return
    const changed = [...this.changesSince(before)].filter((id) => !isSkippedId(id)).sort()
    if (changed.length === 0 && findings.length === 0 && !moved && this.#sources.has(name)) return
    const source = this.#sources.get(name)
    const quarantined = changed.filter((id) => this.#entries.get(id)?.quarantined)
    this.#onChange({
      source: name,
      state: source?.state ?? 'removed',
      ...(reason === '' ? {} : { reason }),
      tools: source?.ids.size ?? 0,
      changed,
      quarantined,
      findings,
    })
  }

  /** In a locked source, a tool must match the definition that was seen first or approved last, even after it was removed. */
  #isQuarantined(entry: Entry, locked: boolean): boolean {
    if (!locked) return false
    const approved = this.#approved.get(entry.source) ?? new Map<string, string>()
    this.#approved.set(entry.source, approved)
    const known = approved.get(entry.id)
    if (known === undefined) approved.set(entry.id, entry.fingerprint)
    return known !== undefined && known !== entry.fingerprint
  }

  members(group: string, source?: string) {
    this.#finishHostTools()
    const members = [...(this.#groups.get(group) ?? [])].sort().flatMap((id) => this.#entries.get(id) ?? [])
    return source === undefined ? members : members.filter((member) => member.source === source)
  }

  listAliases(id: string) {
    this.#finishHostTools()
    return this.#names.listAliases(id)
  }

  async prepareNames() {
    await this.ready()
    await this.#names.prepare()
  }

  resolve(asked: string, usable: (entry: Entry) => boolean): Resolution {
    this.#finishHostTools()
    return this.#names.resolve(asked, usable, {
      exact: () => this.members(asked),
      folded: () => {
        const folded = foldName(asked)
        const alike = [...this.#groups.keys()].filter((group) => folded.endsWith(foldName(group)))
        return alike.flatMap((group) => this.members(group)).filter((member) => isOfGroup(member, folded))
      },
    })
  }

  changesSince(revision: number) {
    this.#finishHostTools()
    return this.#changes.since(revision)
  }

  until(holds: () => boolean, milliseconds: number) {
    return new Promise<void>((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        this.#waiters.delete(check)
        resolve()
      }
      const check = () => {
        if (holds()) finish()
      }
      const timer = setTimeout(finish, milliseconds)
      this.#waiters.add(check)
      check()
    })
  }

  #put(id: string, source: string, tool: Tool, locked: boolean, isMarked: boolean) {
    const old = this.#entries.get(id)
    const next = createEntry(
      id,
      old?.wireName ?? this.#claim(id, source === META ? HOST : source, tool.name),
      source,
      tool,
      false,
      old && old.tool !== tool ? old.fingerprint : undefined,
    )
    const quarantined = isMarked || this.#isQuarantined(next, locked)
    if (
      old &&
      old.quarantined === quarantined &&
      (old.tool === tool || old.fingerprint === next.fingerprint)
    ) {
      // Same definition, perhaps a new `execute`: nothing a model can see has changed.
      this.#entries.set(id, createEntry(id, old.wireName, source, tool, quarantined, old.replaced))
      // Fields that only the search index reads may still differ.
      if (old.tool !== tool) this.#touch(id)
      return
    }
    if (old) this.#forget(old)
    const { wireName, replaced } = next
    this.#entries.set(id, quarantined ? createEntry(id, wireName, source, tool, true, replaced) : next)
    this.#names.put(next)
    this.#looks.put(next)
    if (tool.group !== undefined) {
      const members = this.#groups.get(tool.group) ?? new Set()
      this.#groups.set(tool.group, members.add(id))
    }
    this.#touch(id)
  }

  #claim(id: string, source: string, name: string): string {
    const plain = createWireName(source, name, this.#reserved, this.#naming)
    const holder = this.#wireNames.get(plain)
    const free = (candidate: string) => (this.#wireNames.get(candidate) ?? id) === id
    // Hash only if the plain name is taken: a large catalogue has thousands of names.
    const longer = () => [8, 16, 32].map((digits) => addHashSuffix(plain, source, name, digits)).find(free)
    const wireName = free(plain) ? plain : (longer() ?? plain)
    const reserved = this.#reserved.has(source === '' ? name : '')
    if (reserved || wireName !== plain)
      this.#renamed.set(id, {
        kind: 'name-collision',
        source,
        tool: name,
        detail: showInvisible(
          reserved
            ? `${name} is the name of a meta-tool; this tool is sent as ${wireName}`
            : `${id} would share the wire name ${plain} with ${holder}; it is sent as ${wireName}`,
        ),
      })
    this.#wireNames.set(wireName, id)
    return wireName
  }

  #drop(id: string) {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#forget(entry)
    this.#wireNames.delete(entry.wireName)
    this.#renamed.delete(id)
    this.#entries.delete(id)
    this.#touch(id)
  }

  #removeSkipped(source: string) {
    for (const [id, { entry }] of this.#skipped)
      if (entry.source === source && this.#skipped.delete(id)) this.#touch(id)
  }

  #forget(entry: Entry) {
    this.#names.remove(entry)
    this.#looks.remove(entry)
    if (entry.tool.group !== undefined) this.#groups.get(entry.tool.group)?.delete(entry.id)
  }

  #touch(id: string) {
    this.#changes.add(id, this.#revision)
  }
}
