/** Writes and recognises exact names in a query. Separate from the grammar, which only a search loads. */

export function readDirective(query: string, position: number): 'select' | 'unload' | undefined {
  const prefix = query.slice(position, position + 7).toLowerCase()
  return prefix === 'select:' ? 'select' : prefix === 'unload:' ? 'unload' : undefined
}

/** Writes a name for use after `select:` or `unload:`. `parseQuery` returns the same name, whatever characters it has. */
export function quoteName(name: string): string {
  // A name that itself starts like a directive would end the list after ", ".
  return /^[A-Za-z0-9_./:@-]+$/.test(name) && readDirective(name, 0) === undefined
    ? name
    : JSON.stringify(name)
}
