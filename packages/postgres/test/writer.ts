/** A process that appends numbered events to one ledger and prints the number of each append that was acknowledged. */
import { type LedgerEvent, ToolwellError } from '@toolwell/core'
import { postgresStore } from '@toolwell/postgres'

const [connectionString = '', name = '', appends = '0'] = process.argv.slice(2)
const store = postgresStore({ connectionString, schema: 'race' })
let count = 0
for (let number = 0; number < Number(appends); ) {
  const event: LedgerEvent = {
    id: count,
    anchor: '',
    kind: 'searched',
    query: `${name}-${number}`,
    loaded: [],
    dropped: [],
    missed: true,
    tokens: 1,
  }
  try {
    await store.append('race', count, [event])
    process.stdout.write(`${name}-${number}\n`)
    count += 1
    number += 1
  } catch (error) {
    if (!ToolwellError.is(error)) throw error
    if (error.code === 'ledger-conflict') count = Number(error.data.found)
    // The outcome is unknown: a later number tells nothing about this one.
    else if (error.code === 'store-failed') number += 1
    else throw error
  }
}
await store.close()
