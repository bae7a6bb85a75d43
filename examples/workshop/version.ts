/** Version numbers as Semantic Versioning has them. */

export interface Bump {
  level?: string | undefined
  exact?: string | undefined
  label?: string | undefined
}

export function nextVersion(from: string, { level, exact, label }: Bump): string {
  const [current, next] = [parse(from), exact === undefined ? undefined : parse(exact)]
  if (next && exact !== undefined) {
    const ahead = [0, 1, 2]
      .map((index) => (next.core[index] ?? 0) - (current.core[index] ?? 0))
      .find((step) => step !== 0)
    if (exact === from || (ahead ?? 0) < 0)
      throw new Error(`${exact} does not come after ${from}. Give a later version.`)
    return exact
  }
  const [major = 0, minor = 0, patch = 0] = current.core
  if (level === 'major') return `${major + 1}.0.0`
  if (level === 'minor') return `${major}.${minor + 1}.0`
  if (level === 'patch')
    return current.suffix === '' ? `${major}.${minor}.${patch + 1}` : `${major}.${minor}.${patch}`
  if (level !== 'prerelease') throw new Error('Give either level or exact.')
  const [name, count] = current.suffix.split('.')
  const wanted = label ?? (name || 'beta')
  if (name === wanted) return `${major}.${minor}.${patch}-${wanted}.${Number(count ?? 0) + 1}`
  return `${major}.${minor}.${current.suffix === '' ? patch + 1 : patch}-${wanted}.1`
}

function parse(version: string): { core: number[]; suffix: string } {
  const found = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/.exec(version)
  if (!found) throw new Error(`"${version}" is not a semantic version. Write it like 1.4.0 or 1.4.0-beta.1.`)
  return { core: found.slice(1, 4).map(Number), suffix: found[4] ?? '' }
}
