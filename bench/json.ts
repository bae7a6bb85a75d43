/** JSON for people and diffs: short values on one line. */

const WIDTH = 140

export function stringify(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value, null, 1)?.replace(/\n\s*/g, ' ') ?? 'null'
  if (flat.length + indent.length <= WIDTH || typeof value !== 'object' || value === null) return flat
  const deeper = `${indent}  `
  if (Array.isArray(value))
    return `[\n${value.map((item) => `${deeper}${stringify(item, deeper)}`).join(',\n')}\n${indent}]`
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([key, field]) => `${deeper}${JSON.stringify(key)}: ${stringify(field, deeper)}`)
  return `{\n${fields.join(',\n')}\n${indent}}`
}
