/** A changelog in the "Keep a Changelog" form, read into sections and written back. */

interface Group {
  name: string
  entries: string[]
}

export interface Section {
  version: string
  date?: string | undefined
  intro: string[]
  groups: Group[]
}

export interface Changelog {
  preamble: string[]
  sections: Section[]
}

export const groupNames = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
export const emptyChangelog = (): Changelog => ({ preamble: ['# Changelog'], sections: [] })

export function parseChangelog(text: string): Changelog {
  const changelog: Changelog = { preamble: [], sections: [] }
  for (const line of text.split(/\r?\n/)) {
    const heading = /^## \[?([^\]\s]+)\]?(?: - (\S+))?/.exec(line)
    const section = changelog.sections.at(-1)
    if (heading)
      changelog.sections.push({ version: heading[1] ?? '', date: heading[2], intro: [], groups: [] })
    else if (!section) changelog.preamble.push(line)
    else if (line.startsWith('### ')) section.groups.push({ name: line.slice(4).trim(), entries: [] })
    else if (line.trim() !== '') addLine(section, line)
  }
  return changelog
}

function addLine(section: Section, line: string): void {
  const group = section.groups.at(-1)
  if (!group) section.intro.push(line)
  else if (line.startsWith('- ') || group.entries.length === 0) group.entries.push(line.replace(/^- /, ''))
  else group.entries.push(`${group.entries.pop()}\n${line}`)
}

export function formatSection({ intro, groups }: Section): string {
  const parts = groups
    .filter(({ entries }) => entries.length > 0)
    .map(({ name, entries }) => `### ${name}\n${entries.map((entry) => `- ${entry}`).join('\n')}`)
  return [...(intro.length > 0 ? [intro.join('\n')] : []), ...parts].join('\n\n')
}

export function formatChangelog({ preamble, sections }: Changelog): string {
  const parts = sections.map((section) => {
    const heading = `## [${section.version}]${section.date === undefined ? '' : ` - ${section.date}`}`
    const body = formatSection(section)
    return body === '' ? heading : `${heading}\n\n${body}`
  })
  return `${[preamble.join('\n').trimEnd(), ...parts].join('\n\n')}\n`
}

/** The section of what is not released yet; made at the top when there is none. */
export function unreleasedOf(changelog: Changelog): Section {
  const found = changelog.sections.find(({ version }) => version.toLowerCase() === 'unreleased')
  if (found) return found
  const section: Section = { version: 'Unreleased', intro: [], groups: [] }
  changelog.sections.unshift(section)
  return section
}

/** Adds an entry and keeps the groups in their usual order. */
export function addEntry(section: Section, name: string, entry: string): void {
  const group = section.groups.find((candidate) => candidate.name === name)
  if (group) group.entries.push(entry)
  else section.groups.push({ name, entries: [entry] })
  section.groups.sort((a, b) => groupNames.indexOf(a.name) - groupNames.indexOf(b.name))
}
