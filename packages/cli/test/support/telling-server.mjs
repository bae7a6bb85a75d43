/**
 * A server that tells all it knows: its arguments, its environment and its folder go to standard error, into its
 * instructions and into its tools, whole and in parts. With `--dies` it ends after that.
 */
const values = [...process.argv.slice(3), ...Object.values(process.env), process.cwd()]

/** What a library says when it cannot use a value: the password of an address, a field of JSON or of a connection string. */
function partsOf(value) {
  const parts = []
  try {
    const { username, password, pathname, search } = new URL(value)
    parts.push(username, password, ...pathname.split('/'), search.slice(1))
    parts.push(decodeURIComponent(password), decodeURIComponent(username))
  } catch {
    // It is no address.
  }
  try {
    JSON.parse(value, (_, inner) => {
      if (typeof inner === 'string') parts.push(inner)
      return inner
    })
  } catch {
    // It is no JSON.
  }
  for (const field of value.split(';')) parts.push(field.slice(field.indexOf('=') + 1))
  return parts.filter((part) => part.length > 3)
}
const parts = values.flatMap(partsOf)

const told = values.join('\n')
process.stderr.write(`Error: ${told}\n${JSON.stringify(process.argv)}\n${told.replaceAll('\n', ' ')}\n`)
for (const part of parts) process.stderr.write(`cannot use ${part}\n`)
if (process.argv.includes('--dies')) process.exit(3)
const description = `Started with ${values.join(' ')}, or ${parts.join(' ')}.`
const tool = { name: 'tell', description, inputSchema: { type: 'object' }, _meta: { name: told } }
const named = parts.map((part) => ({
  name: part,
  description: 'Is called like a part.',
  inputSchema: { type: 'object', properties: { [part]: { type: 'string', title: part } } },
}))
const keyed = {
  ...tool,
  name: 'keyed',
  inputSchema: { type: 'object', properties: { [told]: { enum: parts } } },
}
process.argv[2] = JSON.stringify({ tools: [tool, keyed, ...named], instructions: told, title: told })
await import(new URL('../../../mcp/test/support/odd-server.mjs', import.meta.url).href)
