/** In-place changes of server entries: everything else stays as it was. */
import { editEntries, findEntry, readEntry } from '@toolwell/mcp/internal'
import { describe, expect, it } from 'vitest'

const edit = (text: string, change: Parameters<typeof editEntries>[2][number]) =>
  editEntries(text, 'toolwell.json', [change])

describe('a list of an entry', () => {
  it('keeps its comments when a text is added or removed', () => {
    const text = `{
  "mcpServers": {
    "a": {
      "command": "x",
      "deny": [
        // never
        "one",
        "two"
      ]
    },
    "b": { "command": "y" } // last
  }
}
`
    const added = edit(text, { server: 'a', key: 'deny', add: ['three'] })
    expect(added).toBe(text.replace('        "two"\n', '        "two",\n        "three"\n'))
    expect(edit(added, { server: 'a', key: 'deny', remove: ['three'] })).toBe(text)
  })

  it('is created and removed with its key, in the style of the file', () => {
    const text = '{\r\n\t"servers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}\r\n}\r\n'
    const added = edit(text, { server: 'a', key: 'alwaysLoad', add: ['one'] })
    expect(added).toContain('"command": "x",\r\n\t\t\t"alwaysLoad": [')
    expect(JSON.parse(added).servers.a).toEqual({ command: 'x', alwaysLoad: ['one'] })
    expect(edit(added, { server: 'a', key: 'alwaysLoad', remove: ['one'] })).toBe(text)
  })

  it('takes hundreds of texts at once', () => {
    const names = Array.from({ length: 2500 }, (_, index) => `tool_${index}`)
    const text = '{ "mcpServers": { "a": { "command": "x", "deny": ["old"] } } }'
    const added = edit(text, { server: 'a', key: 'deny', add: names })
    expect(readEntry(added, 'toolwell.json', 'a').deny).toEqual(['old', ...names])
    const removed = edit(added, { server: 'a', key: 'deny', remove: names })
    expect(JSON.parse(removed)).toEqual(JSON.parse(text))
  })
})

it('finds the entry of the strongest table, and refuses a server that the file does not have', () => {
  const text =
    '{"servers": {"a": {"command": "x"}}, "mcpServers": {"a": {"command": "y"}, "a/b": {"url": "z"}}}'
  expect(findEntry(text, 'toolwell.json', 'a')).toEqual(['mcpServers', 'a'])
  expect(findEntry(text, 'toolwell.json', 'a/b')).toEqual(['mcpServers', 'a/b'])
  expect(findEntry(text, 'toolwell.json', 'toString')).toBeUndefined()
  expect(() => edit(text, { server: 'c', key: 'deny', add: ['x'] })).toThrow('no entry "c"')
})

it('keeps a byte order mark and trailing commas', () => {
  const text = '\uFEFF{"mcpServers": {"a": {"command": "x",},},}'
  const after = edit(text, { server: 'a', key: 'enabled', set: false })
  expect(after.startsWith('\uFEFF')).toBe(true)
  expect(readEntry(after, 'toolwell.json', 'a')).toEqual({ command: 'x', enabled: false })
})
