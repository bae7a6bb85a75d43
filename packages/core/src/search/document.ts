/** Reduces a tool to what the ranker may index: the step between the catalogue and a searcher. */
import type { Tool } from '../tool.js'
import type { SearchDocument } from './searcher.js'

const parameterCharacterLimit = 2000
const parameterPropertyLimit = 200
const pieceCharacterLimit = 120
const enumLimit = 20
const serverDescriptionCharacterLimit = 200

/**
 * The document of one tool. Never throws, whatever the schema holds, and looks at no more than 200 properties, so a
 * schema of a megabyte costs no more than a small one. `$ref` is not followed.
 *
 * The start of the server's description is indexed with the parameters: it is the same for all tools of a server, so
 * it may find them but should not decide between them.
 */
export function documentOf(entry: {
  readonly id: string
  readonly tool: Tool
  readonly serverDescription?: string
}): SearchDocument {
  const { tool } = entry
  return {
    id: entry.id,
    name: textOf(tool.name),
    aliases: Array.isArray(tool.aliases) ? tool.aliases.filter((alias) => typeof alias === 'string') : [],
    server: textOf(tool.source),
    domain: textOf(tool.domain),
    hint: textOf(tool.searchHint),
    // The card is what the model has seen of a deferred tool, so it searches with those words.
    snippet: joined(textOf(tool.promptSnippet), textOf(tool.card)),
    title: textOf(tool.title) || textOf(tool.annotations?.title),
    description: textOf(tool.description),
    parameters: joined(
      textOf(entry.serverDescription).slice(0, serverDescriptionCharacterLimit),
      parametersOf(tool.inputSchema),
    ).slice(0, parameterCharacterLimit),
  }
}

/** Names, descriptions and string enums of the properties, then those of the properties one level below. */
function parametersOf(schema: unknown): string {
  const pieces = new Set<string>()
  let room = parameterCharacterLimit
  let propertiesLeft = parameterPropertyLimit

  const add = (piece: unknown): void => {
    const text = textOf(piece).slice(0, pieceCharacterLimit).trim()
    if (text === '' || text.length >= room || pieces.has(text)) return
    pieces.add(text)
    room -= text.length + 1
  }
  /** Adds what describes the properties of one object and returns their schemas. */
  const addProperties = (owner: unknown): unknown[] => {
    const schemas: unknown[] = []
    const properties = fieldOf(owner, 'properties')
    if (!isRecord(properties)) return schemas
    for (const name in properties) {
      if (propertiesLeft <= 0 || room <= 1) break
      if (!Object.hasOwn(properties, name)) continue
      propertiesLeft -= 1
      const property = properties[name]
      add(name)
      add(fieldOf(property, 'description'))
      const values = fieldOf(property, 'enum')
      if (Array.isArray(values)) for (const value of values.slice(0, enumLimit)) add(value)
      schemas.push(property)
    }
    return schemas
  }

  try {
    for (const property of addProperties(schema)) {
      addProperties(property)
      addProperties(fieldOf(property, 'items'))
    }
  } catch {
    // A getter or a proxy that throws: what was read until then is indexed.
  }
  return [...pieces].join('\n')
}

function fieldOf(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function joined(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first}\n${second}`
}
