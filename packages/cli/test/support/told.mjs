/** Output of a server that prints its arguments, its environment and its folder: whole, and in parts. */

/** Values a library holds when it cannot use an input: the password of an address, a field, a header, a line. */
function innerOf(value) {
  const inner = []
  try {
    const { username, password, pathname, search, searchParams, hash } = new URL(value)
    inner.push(
      username,
      password,
      search.slice(1),
      hash.slice(1),
      ...pathname.split('/'),
      ...searchParams.values(),
    )
    inner.push(decodeURIComponent(username), decodeURIComponent(password), decodeURIComponent(hash.slice(1)))
    inner.push(...pathname.split('/').map(decodeURIComponent))
  } catch {
    // It is not an address.
  }
  try {
    JSON.parse(value, (_, each) => {
      if (typeof each === 'string') inner.push(each)
      return each
    })
  } catch {
    // It is not JSON.
  }
  const behind = (text, mark) => (text.includes(mark) ? text.slice(text.indexOf(mark) + 1).trim() : '')
  for (const field of [value, ...value.split(';')]) inner.push(behind(field, '='))
  // A name is before it: of a user, of a header.
  if (/^[\w-]+:(?!\/\/)/.test(value)) inner.push(behind(value, ':'))
  if (/^(?:Bearer|Basic|Token) /i.test(value)) inner.push(behind(value, ' '))
  if (/^Basic /i.test(value)) inner.push(Buffer.from(value.slice(6), 'base64').toString('utf8'))
  const [, quoted = ''] = /^(?:"(.*)"|'(.*)')$/s.exec(value) ?? []
  return [...inner, quoted, ...value.split('\n'), ...value.split(',')]
}

/** Parts, and parts of these. */
export function partsOf(value) {
  const found = new Set()
  let outer = [value]
  for (let depth = 0; depth < 3; depth++) {
    outer = outer.flatMap(innerOf).filter((part) => part.length > 3 && part !== value && !found.has(part))
    for (const part of outer) found.add(part)
  }
  return [...found]
}

/** `args`: behind the program; `argv`: all of them; `most`: tools that are called like a part. */
export function tell({ args, argv, env, cwd, most }) {
  const values = [...args, ...env, cwd]
  const parts = [...new Set(values.flatMap(partsOf))]
  const told = values.join('\n')
  const tool = (name, more) => ({ name, description: 'Tells.', inputSchema: { type: 'object' }, ...more })
  // Letters alone may be the name of a tool that the config asks for.
  const named = parts
    .filter((part) => /[^A-Za-z_-]/.test(part))
    .slice(0, most)
    .map((part) =>
      tool(part, {
        inputSchema: { type: 'object', properties: { [part]: { type: 'string', title: part } } },
      }),
    )
  return {
    log: [
      `Error: ${told}`,
      JSON.stringify(argv),
      told.replaceAll('\n', ' '),
      ...parts.map((part) => `cannot use ${part}`),
    ].join('\n'),
    instructions: told,
    title: told,
    tools: [
      tool('tell', {
        description: `Started with ${values.join(' ')}, or ${parts.join(' ')}.`,
        _meta: { name: told },
      }),
      tool('keyed', { inputSchema: { type: 'object', properties: { [told]: { enum: parts } } } }),
      ...named,
    ],
  }
}
