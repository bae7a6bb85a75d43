import { describe, expect, it } from 'vitest'
import { ToolwellError } from '../../src/base/errors.js'
import { assertKnownKeys } from '../../src/base/options.js'

const known = ['maxLoaded', 'search', 'store']

function refusal(value: unknown): ToolwellError {
  try {
    assertKnownKeys(value, known, 'createToolwell')
  } catch (error) {
    if (ToolwellError.is(error)) return error
  }
  throw new Error('assertKnownKeys accepted the value')
}

describe('assertKnownKeys', () => {
  it('accepts known keys and an empty object', () => {
    assertKnownKeys({ maxLoaded: 1, store: undefined }, known, 'createToolwell')
    assertKnownKeys({}, known, 'createToolwell')
  })

  it('names the unknown key, its place and the nearest known key', () => {
    const error = refusal({ search: 1, maxLoade: 2 })
    expect(error.code).toBe('invalid-option')
    expect(error.message).toBe('Unknown option "maxLoade" in createToolwell. Did you mean "maxLoaded"?')
    expect(error.data).toEqual({ path: 'createToolwell', key: 'maxLoade', nearest: 'maxLoaded' })
  })

  it('lists the known keys when none is near', () => {
    const error = refusal({ zebra: 1 })
    expect(error.message).toBe(
      'Unknown option "zebra" in createToolwell. Known options: maxLoaded, search, store.',
    )
    expect(error.data).toEqual({ path: 'createToolwell', key: 'zebra' })
  })

  it.each([
    [null, 'null'],
    [[], 'a list'],
    [3, 'number'],
    [undefined, 'undefined'],
  ])('rejects a value that is not an object: %s', (value, said) => {
    expect(refusal(value).message).toBe(
      `createToolwell takes an object of options (maxLoaded, search, store), not ${said}.`,
    )
  })
})
