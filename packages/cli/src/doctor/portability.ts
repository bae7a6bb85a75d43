/** Which providers would refuse a schema as it is, and what becomes of it on their wires. */
import type { Entry } from '@toolwell/core'
import { firstLine, fitWire, soundSchema } from '@toolwell/core/shared'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type Violation,
} from '@toolwell/core/testing'
import type { Diagnosis } from './diagnosis.js'

interface Definition {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

interface Provider {
  readonly wire: string
  readonly label: string
  refuse(tool: Definition): Violation | undefined
}

const model = 'any'
const messages = [{ role: 'user', content: 'x' }]

/** The strict rules that the scripted endpoints of the tests are held to as well. */
function providers(): Provider[] {
  const [anthropic, chat, responses, google] = [
    anthropicProtocol(),
    chatProtocol({ maxDescription: 1024 }),
    responsesProtocol(),
    googleProtocol(),
  ]
  return [
    {
      wire: 'anthropic',
      label: 'Anthropic',
      refuse: ({ name, description, inputSchema }) =>
        anthropic.violationOf({
          model,
          max_tokens: 1,
          messages,
          tools: [{ name, description, input_schema: inputSchema }],
        }),
    },
    {
      wire: 'openai-chat',
      label: 'Chat Completions',
      refuse: ({ name, description, inputSchema }) =>
        chat.violationOf({
          model,
          messages,
          tools: [{ type: 'function', function: { name, description, parameters: inputSchema } }],
        }),
    },
    {
      wire: 'openai-responses',
      label: 'OpenAI Responses',
      refuse: ({ name, description, inputSchema }) =>
        responses.violationOf({
          model,
          input: 'x',
          tools: [{ type: 'function', name, description, parameters: inputSchema, strict: false }],
        }),
    },
    {
      wire: 'google',
      label: 'Gemini',
      refuse: ({ name, description, inputSchema }) =>
        google.violationOf({
          contents: [{ role: 'user', parts: [{ text: 'x' }] }],
          tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: inputSchema }] }],
        }),
    },
  ]
}

export function checkPortability(entries: Iterable<Entry>): Diagnosis[] {
  const all = providers()
  return [...entries].flatMap((entry) => diagnosesOf(entry, all))
}

/** One diagnosis for the providers that Toolwell mends it for, one for each that refuses it all the same. */
function diagnosesOf({ source, tool, wireName }: Entry, all: readonly Provider[]): Diagnosis[] {
  // What no provider takes is told of elsewhere.
  const inputSchema = soundSchema(tool.inputSchema)
  const given = { name: wireName, description: tool.description ?? '', inputSchema }
  const mended: string[] = []
  const ways = new Set<string>()
  const diagnoses: Diagnosis[] = []
  for (const { wire, label, refuse } of all) {
    const typed = { ...given, inputSchema: { type: 'object', ...given.inputSchema } }
    const before = refuse(typed)
    if (!before) continue
    const { tool: sent, keys } = fitWire(typed, wire)
    const after = refuse({ ...sent, inputSchema: sent.inputSchema as Definition['inputSchema'] })
    if (after)
      diagnoses.push({
        rule: 'portability',
        level: 'error',
        server: source,
        tool: tool.name,
        message: `${label} refuses its schema: ${firstLine(after.message, 200)}`,
        fix: `Ask the author of ${source} to fix the schema, or keep the tool out with "deny".`,
      })
    else {
      mended.push(label)
      for (const way of changesTo(typed, sent, keys.size)) ways.add(way)
    }
  }
  if (mended.length > 0)
    diagnoses.unshift({
      rule: 'portability',
      level: 'note',
      server: source,
      tool: tool.name,
      message: `${mended.join(', ')} would refuse it as it is; Toolwell sends it changed: ${[...ways].join(', ')}.`,
      fix: ways.has(LONG)
        ? `Nothing has to be done for it to work; a shorter description saves the tokens${ways.size > 1 ? ', and without Toolwell a plainer schema is needed as well' : ''}. Ask the author of ${source}, or keep the tool out with "deny".`
        : 'Nothing has to be done with Toolwell; without it, ask the author for a plainer schema.',
    })
  return diagnoses
}

const LONG =
  'its description is too long, so it is cut there and copied whole into the schema, which costs tokens for both'

function changesTo(
  given: Definition,
  sent: Omit<Definition, 'inputSchema'> & { inputSchema: object },
  renamed: number,
): string[] {
  const ways: string[] = []
  if (given.description !== sent.description) ways.push(LONG)
  const lost = Object.keys(given.inputSchema).filter((keyword) => !Object.hasOwn(sent.inputSchema, keyword))
  if (lost.length > 0) ways.push(`${lost.join(', ')} told in words instead`)
  if (renamed > 0) ways.push(`${renamed} ${renamed === 1 ? 'parameter' : 'parameters'} renamed`)
  return ways.length > 0 ? ways : ['what was left out is spelt out']
}
