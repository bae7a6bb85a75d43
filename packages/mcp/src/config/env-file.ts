/** Reads NAME=value lines, as editors and shells keep them beside a project. Other lines are ignored. */

const LINE = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*$/

export function readEnvFile(text: string): Record<string, string> {
  const found = Object.create(null) as Record<string, string>
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const [, name, value = ''] = LINE.exec(line) ?? []
    if (name !== undefined) found[name] = plainValue(value)
  }
  return found
}

/** In quotes everything counts; without, a comment ends the value. */
function plainValue(text: string): string {
  const [, quote, inner = ''] = /^(["'])(.*)\1(?:\s+#.*)?$/.exec(text) ?? []
  if (quote === undefined) return text.replace(/(?:^|\s+)#.*$/, '')
  return quote === '"' ? inner.replace(/\\n/g, '\n').replace(/\\(["\\])/g, '$1') : inner
}
