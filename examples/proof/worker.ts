/** A second process that works on the same session, until it is killed half-way through a request. */
import { loadTokenizer } from '@toolwell/core'
import { openSession } from '../host.ts'
import { createProofHost } from './setup.ts'

const [folder = '', url = '', delivery = 'bridge', text = ''] = process.argv.slice(2)
const tokenizer = await loadTokenizer()
const host = createProofHost({
  folder,
  url,
  delivery: delivery === 'append' ? 'append' : 'bridge',
  tokenizer,
})
const session = await openSession(host, 'main')
await session.ask(text)
