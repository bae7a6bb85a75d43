/** How a query asks for an exact name: what is written, and where it begins. Apart from the grammar, which only a search needs. */

export function readDirective(query: string, position: number): 'select' | 'unload' | undefined {
  const prefix = query.slice(position, position + 7).toLowerCase()
  return prefix === 'select:' ? 'select' : prefix === 'unload:' ? 'unload' : undefined
}

/** The name as it has to be written after `select:` or `unload:`; any string whatsoever comes back from `parseQuery`. */
export function quoteName(name: string): string {
  // A name that itself starts like a directive would end the list after ", ".
  return /^[A-Za-z0-9_./:@-]+$/.test(name) && readDirective(name, 0) === undefined
    ? name
    : JSON.stringify(name)
}
