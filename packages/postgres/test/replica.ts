/** A process that takes part in one conversation: in each round it runs the same reply as the others. Prints what it did. */
import { createToolwell, defineTool } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { postgresStore } from '@toolwell/postgres'
import pg from 'pg'

const [connectionString = '', name = '', rounds = '0'] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString })
const postgres = postgresStore({ client: pool, schema: 'replicas' })
let conflicts = 0
const store = {
  ...postgres,
  append: (...given: Parameters<typeof postgres.append>) =>
    postgres.append(...given).catch((error: unknown) => {
      conflicts += 1
      throw error
    }),
}
const well = createToolwell({ store, mode: 'on' })
const pay = defineTool({
  name: 'pay_invoice',
  description: 'Pays the invoice with this number.',
  inputSchema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
  execute: async ({ number }) => {
    await pool.query('insert into replicas.paid (number, by) values ($1, $2)', [number, name])
    return `Invoice ${number} is paid.`
  },
})
well.catalogue.setSource('billing', { tools: [pay] })
const chat = openaiChat(await well.open({ id: 'shared' }))

const call = (id: string, tool: string, given: object): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: tool, arguments: JSON.stringify(given) } }],
})

const started = performance.now()
const messages: ChatMessage[] = [{ role: 'user', content: 'Pay all invoices.' }]
for (let round = 0; round < Number(rounds); round += 1) {
  for (const reply of [
    call(`search-${round}`, 'tool_search', { query: 'pay an invoice' }),
    call(`pay-${round}`, 'tool_call', { name: 'billing__pay_invoice', arguments: { number: round } }),
  ]) {
    const turn = await chat.begin(messages)
    const { messages: results } = await turn.run({ choices: [{ message: reply }] })
    // Every process continues with the same history, whatever result it saw itself.
    messages.push(reply, { role: 'tool', tool_call_id: reply.tool_calls?.[0]?.id ?? '', content: 'done' })
    if (results.length !== 1) throw new Error(`${results.length} results`)
  }
}
console.log(JSON.stringify({ conflicts, milliseconds: performance.now() - started }))
await pool.end()
