/** Compares search by words with search by words and meaning. Both examples use it. */
import { createToolwell } from '@toolwell/core'
import { createHybridSearcher } from '@toolwell/core/hybrid'

const tool = (source, name, description) => ({
  source,
  name,
  description,
  inputSchema: { type: 'object', properties: {} },
})

const tools = [
  tool('home', 'set_thermostat', 'Sets the temperature of a room.'),
  tool('home', 'switch_lamp', 'Switches a lamp on or off.'),
  tool('office', 'list_events', 'Lists the events of a calendar.'),
  tool('office', 'send_email', 'Sends an email.'),
  tool('files', 'delete_file', 'Deletes a file.'),
  tool('bank', 'pay_invoice', 'Pays an invoice from an account.'),
]

const queries = ['it is freezing in the kitchen', 'it is too hot in the bedroom', 'erase my documents']

/** Prints both answers to each query. Returns how often `embed` failed. */
export async function compare(embed) {
  const failures = []
  const options = { tools, mode: 'on', delivery: 'bridge' }
  const byWords = createToolwell(options)
  const byMeaning = createToolwell({
    ...options,
    searcher: createHybridSearcher({ embed, timeout: 10_000 }),
    onEvent: (event) => {
      if (event.kind === 'searcher-failed') failures.push(event.detail)
    },
  })
  for (const query of queries) {
    const [words, meaning] = [await found(byWords, query), await found(byMeaning, query)]
    process.stdout.write(`${query}\n  words    ${words}\n  meaning  ${meaning}\n`)
  }
  for (const detail of new Set(failures)) process.stderr.write(`embed was not used: ${detail}\n`)
  return failures.length
}

async function found(well, query) {
  const conversation = await well.open({ id: query })
  await conversation.begin({ requestId: 'first', anchor: 'message', wire: 'openai-chat' })
  const [answer] = await conversation.run([
    { callId: 'search', anchor: 'search', name: conversation.loader, input: { value: { query } } },
  ])
  const { matches } = answer.outcome.result
  return matches.length === 0 ? '–' : matches.map(({ canonicalName }) => canonicalName).join(', ')
}
