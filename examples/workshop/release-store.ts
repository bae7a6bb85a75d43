/** What the release server does to versions, manifest, changelog and checksums. */
import { createHash } from 'node:crypto'
import {
  addEntry,
  emptyChangelog,
  formatChangelog,
  formatSection,
  parseChangelog,
  unreleasedOf,
} from './changelog.ts'
import { clock } from './clock.ts'
import {
  flagIn,
  type Input,
  isInput,
  numberIn,
  objectIn,
  objectsIn,
  optionalText,
  textIn,
  textsIn,
} from './input.ts'
import { matchesGlob, type Store } from './store.ts'
import { nextVersion } from './version.ts'

export function createRelease(store: Store) {
  const pathIn = (input: Input) => textIn(input, 'path', 'CHANGELOG.md')

  async function readManifest(path: string): Promise<Input> {
    const text = await store.readText(path)
    try {
      const manifest: unknown = JSON.parse(text)
      if (isInput(manifest)) return manifest
    } catch {}
    throw new Error(`"${path}" is not a JSON object. Give the path of a package manifest.`)
  }

  async function readChangelog(path: string) {
    return (await store.exists(path)) ? parseChangelog(await store.readText(path)) : emptyChangelog()
  }

  async function sectionOf(path: string, version: string) {
    const section = (await readChangelog(path)).sections.find((candidate) => candidate.version === version)
    if (!section) throw new Error(`"${path}" has no section for ${version}. Make it with cut_changelog.`)
    return section
  }

  async function checksumOf(path: string, algorithm = 'sha256'): Promise<string> {
    return createHash(algorithm)
      .update(await store.readBytes(path))
      .digest('hex')
  }

  return {
    readManifest,
    sectionOf,
    checksumOf,

    async bumpVersion(input: Input) {
      const path = textIn(input, 'manifest_path', 'package.json')
      const manifest = await readManifest(path)
      const from = textIn(manifest, 'version')
      const to = nextVersion(from, {
        level: optionalText(input, 'level'),
        exact: optionalText(input, 'exact'),
        label: optionalText(input, 'prerelease_label'),
      })
      const writes: { path: string; text: string }[] = [
        {
          path,
          text: `${JSON.stringify({ ...manifest, version: to }, null, numberIn(input, 'indent', 2))}\n`,
        },
      ]
      for (const other of objectsIn(input, 'also_update')) {
        const [target, template] = [textIn(other, 'path'), textIn(other, 'text', '{version}')]
        const text = await store.readText(target)
        const before = template.replaceAll('{version}', from)
        if (!text.includes(before))
          throw new Error(
            `"${target}" does not contain "${before}". Correct also_update; nothing was written.`,
          )
        writes.push({ path: target, text: text.replaceAll(before, template.replaceAll('{version}', to)) })
      }
      const dryRun = flagIn(input, 'dry_run', false)
      if (!dryRun) for (const write of writes) await store.write(write.path, write.text)
      return { from, to, files: writes.map((write) => write.path), written: !dryRun }
    },

    async editManifest(input: Input) {
      const path = textIn(input, 'path', 'package.json')
      const exists = await store.exists(path)
      if (!exists && !flagIn(input, 'create', false))
        throw new Error(`There is no "${path}". Set create to make it.`)
      const manifest = exists ? await readManifest(path) : {}
      for (const entry of objectsIn(input, 'set')) {
        const keys = fieldIn(entry)
        const last = keys.pop()
        let target: Input = manifest
        for (const key of keys) {
          if (!isInput(target[key])) target[key] = {}
          target = objectIn(target, key)
        }
        if (last !== undefined) target[last] = entry.value
      }
      const removals = Array.isArray(input.remove) ? input.remove : []
      for (const field of removals) {
        const keys = fieldIn({ field })
        const last = keys.pop()
        const parent = keys.reduce<unknown>(
          (target, key) => (isInput(target) ? target[key] : undefined),
          manifest,
        )
        if (isInput(parent) && last !== undefined) delete parent[last]
      }
      for (const name of textsIn(input, 'sort')) {
        const sorted = Object.entries(objectIn(manifest, name)).sort(([a], [b]) => (a < b ? -1 : 1))
        if (name in manifest) manifest[name] = Object.fromEntries(sorted)
      }
      await store.writeJson(path, manifest)
      return { path, created: !exists, manifest }
    },

    async addChangelogEntry(input: Input) {
      const path = pathIn(input)
      const changelog = await readChangelog(path)
      const numbers = Array.isArray(input.issues) ? input.issues.map((number) => `#${number}`) : []
      const impact = objectIn(input, 'impact')
      const sentences = [
        (flagIn(input, 'breaking', false) ? '**Breaking:** ' : '') + textIn(input, 'text'),
        ...(optionalText(impact, 'affects') === undefined ? [] : [`Affects: ${textIn(impact, 'affects')}.`]),
        ...(optionalText(impact, 'action') === undefined ? [] : [`What to do: ${textIn(impact, 'action')}.`]),
        ...(numbers.length > 0 ? [`(${numbers.join(', ')})`] : []),
      ]
      const entry = sentences.join(' ')
      addEntry(unreleasedOf(changelog), textIn(input, 'group'), entry)
      await store.write(path, formatChangelog(changelog))
      return { path, group: textIn(input, 'group'), entry }
    },

    async cutChangelog(input: Input) {
      const path = pathIn(input)
      const version = textIn(input, 'version')
      const changelog = await readChangelog(path)
      const section = unreleasedOf(changelog)
      if (changelog.sections.some((other) => other.version === version))
        throw new Error(`"${path}" has a section for ${version} already. Give the next version.`)
      if (section.groups.length === 0 && !flagIn(input, 'allow_empty', false))
        throw new Error('Nothing is unreleased. Add entries with add_changelog_entry or set allow_empty.')
      section.version = version
      section.date = textIn(input, 'date', clock.today())
      const intro = optionalText(input, 'introduction')
      if (intro !== undefined) section.intro = [intro]
      if (flagIn(input, 'keep_unreleased_heading', true)) unreleasedOf(changelog)
      await store.write(path, formatChangelog(changelog))
      return {
        path,
        version,
        date: section.date,
        entries: section.groups.flatMap(({ entries }) => entries).length,
      }
    },

    async checksumArtefacts(input: Input) {
      const [include, exclude] = [textsIn(input, 'include'), textsIn(input, 'exclude')]
      const files = (await store.listFiles('.'))
        .filter((file) => include.some((glob) => matchesGlob(file, glob)))
        .filter((file) => !exclude.some((glob) => matchesGlob(file, glob)))
      const output = textIn(input, 'output_path', 'checksums.txt')
      const chosen = files.filter((file) => file !== output)
      if (chosen.length === 0) throw new Error('No file matches include. Check the globs with list_folder.')
      const algorithm = textIn(input, 'algorithm', 'sha256')
      const artefacts = await Promise.all(
        chosen.map(async (path) => ({
          path,
          bytes: (await store.readBytes(path)).length,
          checksum: await checksumOf(path, algorithm),
        })),
      )
      const asJson = textIn(input, 'format', 'lines') === 'json'
      const text = artefacts.map(({ path, checksum }) => `${checksum}  ${path}\n`).join('')
      await store.write(output, asJson ? `${JSON.stringify({ algorithm, artefacts }, null, 2)}\n` : text)
      return { output, algorithm, artefacts }
    },

    async verifyArtefacts(input: Input) {
      const rows = (await store.readText(textIn(input, 'checksum_path', 'checksums.txt')))
        .split('\n')
        .filter(Boolean)
      const algorithm = textIn(input, 'algorithm', 'sha256')
      const only = textsIn(input, 'only')
      const results = []
      for (const row of rows) {
        const [, expected = '', path = ''] = /^([0-9a-f]+) [ *](.+)$/.exec(row) ?? []
        if (path === '')
          throw new Error(
            `Cannot read "${row}". The file must have the format "lines" of checksum_artefacts.`,
          )
        if (only.length > 0 && !only.some((glob) => matchesGlob(path, glob))) continue
        const exists = await store.exists(path)
        const matches = exists && (await checksumOf(path, algorithm)) === expected
        results.push({ path, result: matches ? 'intact' : exists ? 'changed' : 'missing' })
        if (!matches && flagIn(input, 'stop_at_first_failure', false)) break
      }
      return { intact: results.every(({ result }) => result === 'intact'), results }
    },

    async writeReleaseNotes(input: Input) {
      const version = textIn(input, 'version')
      const section = await sectionOf(textIn(input, 'changelog_path', 'CHANGELOG.md'), version)
      const groups = 'groups' in input ? textsIn(input, 'groups') : section.groups.map(({ name }) => name)
      const chosen = groups.flatMap((name) => section.groups.filter((group) => group.name === name))
      const highlights = objectsIn(input, 'highlights').map(
        (item) => `**${textIn(item, 'title')}**: ${textIn(item, 'text')}`,
      )
      const credits = textsIn(input, 'contributors')
      const upgrade = optionalText(input, 'upgrade_instructions')
      const parts = [
        `# ${textIn(input, 'title', version)}`,
        optionalText(input, 'introduction'),
        highlights.length > 0
          ? `## Highlights\n\n${highlights.map((item) => `- ${item}`).join('\n')}`
          : undefined,
        formatSection({ ...section, groups: chosen }),
        upgrade === undefined ? undefined : `## Upgrading\n\n${upgrade}`,
        credits.length > 0 ? `## Thanks\n\n${credits.join(', ')}` : undefined,
      ]
      const output = textIn(input, 'output_path', `release-notes/${version}.md`)
      const notes = `${parts.filter((part) => part !== undefined && part !== '').join('\n\n')}\n`
      await store.write(output, notes)
      return { output, notes }
    },
  }
}

/** The keys of a field, as a copy. `__proto__` would reach into every object of the process. */
function fieldIn(input: Input): string[] {
  const keys = [...textsIn(input, 'field')]
  if (keys.includes('__proto__')) throw new Error('A field cannot be called "__proto__". Use another key.')
  return keys
}
