/** Calls that the model of these tests sends, with their meaning: names in every spelling, searches, nonsense. */
import type { Asked, Call, Input } from './reference-calls.js'
import type { Model, Named } from './steps.js'
import { specOf, UNIVERSE } from './world.js'

/** One model call: the sent form, and the form the reference understands. */
export interface Made {
  readonly name: string
  readonly text: string
  readonly meaning: Call
}

const INPUTS = { fits: '{"value":"x"}', misfits: '{"value":7}', 'no-object': '[1]', unparsable: '{"value":' }

/** `text`: arguments are text here. `native`: the search is the provider's own kind of call. */
export function createCall(model: Model, text: boolean, native: boolean): Made {
  const effective = (input: Input): Input =>
    text || input === 'fits' || input === 'misfits' ? input : 'fits'
  if (model.kind === 'call' || model.kind === 'nobody') {
    const name = model.kind === 'call' ? spell(model.named) : model.name
    const input = effective(model.kind === 'call' ? model.input : 'fits')
    const inner = INPUTS[input]
    const wrapped =
      input === 'fits' || input === 'misfits'
        ? `{"name":${JSON.stringify(name)},"arguments":${inner}}`
        : inner
    const sent = model.bridged ? { name: 'tool_call', text: wrapped } : { name, text: inner }
    const { bridged } = model
    return {
      ...sent,
      meaning:
        model.kind === 'call'
          ? { kind: 'target', asked: asked(model.named), input, bridged }
          : { kind: 'nobody', input, reserve: name === 'toolwell_reserve' && !bridged, bridged },
    }
  }
  const search = (query: string, more: Partial<Extract<Call, { kind: 'search' }>>): Made => ({
    name: 'tool_search',
    text: JSON.stringify({ query }),
    meaning: { kind: 'search', input: 'fits', unload: [], select: [], found: [], ...more },
  })
  if (model.kind === 'junk') {
    const input = text && !native && model.input !== 'empty' ? model.input : 'fits'
    return { ...search('', { input }), ...(input === 'fits' ? {} : { text: INPUTS[input] }) }
  }
  if (model.kind === 'words') {
    if ('word' in model.query) {
      const { word } = model.query
      return search(word, { found: UNIVERSE.filter((each) => each.word === word).map(({ id }) => id) })
    }
    const { server } = model.query
    return search(`server:${server}`, {
      found: UNIVERSE.filter(({ source }) => source === server)
        .map(({ id }) => id)
        .sort(),
    })
  }
  const { unload, select } = model
  const list = (word: string, names: readonly Named[]) =>
    names.length > 0 ? [`${word}:${[...new Set(names.map(spell))].join(',')}`] : []
  return search([...list('unload', unload), ...list('select', select)].join(' '), {
    unload: distinct(unload).map(asked),
    select: distinct(select).map(asked),
  })
}

export function spell({ id, how }: Named): string {
  const { wire, name, alias, group } = specOf(id)
  if (how === 'cased') return wire.toUpperCase().replaceAll('_', '-')
  if (how === 'id') return id
  if (how === 'alias') return alias ?? wire
  if (how === 'short') return name
  return how === 'group' ? (group ?? wire) : wire
}

export function asked(named: Named): Asked {
  const { id, how } = named
  const { group, name, wire } = specOf(id)
  const exact = spell(named) === wire
  if (how === 'group' && group !== undefined)
    return {
      ids: UNIVERSE.filter((each) => each.group === group)
        .map((each) => each.id)
        .sort(),
      exact: false,
      group: true,
    }
  if (how === 'short')
    return { ids: UNIVERSE.filter((each) => each.name === name).map((each) => each.id), exact }
  return { ids: [id], exact }
}

function distinct(names: readonly Named[]): Named[] {
  const seen = new Set<string>()
  return names.filter((each) => !seen.has(spell(each)) && seen.add(spell(each)))
}
