/** What the host's own tools do to the workspace. */
import { stat } from 'node:fs/promises'
import { flagIn, type Input, numberIn, objectsIn, optionalText, textIn, textsIn } from './input.ts'
import { matchesGlob, type Store } from './store.ts'

export function createFiles(store: Store) {
  return {
    async readFile(input: Input) {
      const rows = (await store.readText(textIn(input, 'path'))).split('\n')
      if (rows.at(-1) === '') rows.pop()
      const start = numberIn(input, 'start_line', 1)
      const end = Math.min(rows.length, start - 1 + numberIn(input, 'line_count', 500))
      const numbered = flagIn(input, 'show_line_numbers', true)
      const shown = rows
        .slice(start - 1, end)
        .map((row, index) => (numbered ? `${start + index}\t${row}` : row))
      if (end < rows.length)
        shown.push(`[${rows.length - end} more lines: read on with start_line ${end + 1}]`)
      return shown.join('\n')
    },

    async writeFile(input: Input) {
      const path = textIn(input, 'path')
      const content = textIn(input, 'content')
      const mode = textIn(input, 'mode', 'overwrite')
      const exists = await store.exists(path)
      if (mode === 'create' && exists)
        throw new Error(
          `"${path}" exists. Use mode "overwrite" to replace it, or edit_file to change a part.`,
        )
      const before = mode === 'append' && exists ? await store.readText(path) : ''
      await store.write(path, before + content)
      return { path, created: !exists, bytes: Buffer.byteLength(before + content) }
    },

    async editFile(input: Input) {
      const path = textIn(input, 'path')
      const edits = objectsIn(input, 'edits')
      let content = await store.readText(path)
      let replaced = 0
      for (const [index, edit] of edits.entries()) {
        const parts = content.split(textIn(edit, 'old_text'))
        const count = parts.length - 1
        if (count === 0)
          throw new Error(
            `Edit ${index + 1} does not apply: "${path}" has no such text. Read the file again.`,
          )
        if (count > 1 && !flagIn(edit, 'replace_all', false))
          throw new Error(`Edit ${index + 1} matches ${count} places. Quote more lines or set replace_all.`)
        content = parts.join(textIn(edit, 'new_text'))
        replaced += count
      }
      const dryRun = flagIn(input, 'dry_run', false)
      if (!dryRun) await store.write(path, content)
      return { path, replaced, written: !dryRun }
    },

    async listFolder(input: Input) {
      const path = textIn(input, 'path', '.')
      const pattern = optionalText(input, 'pattern')
      const limit = numberIn(input, 'limit', 200)
      const found = (await store.listFiles(path, { hidden: flagIn(input, 'include_hidden', false) }))
        .filter((file) => file.split('/').length <= numberIn(input, 'depth', 3))
        .filter((file) => pattern === undefined || matchesGlob(file, pattern))
      const entries = await Promise.all(
        found.map(async (file) => ({
          path: file,
          bytes: (await stat(await store.resolve(`${path}/${file}`))).size,
        })),
      )
      if (textIn(input, 'sort_by', 'path') === 'size') entries.sort((a, b) => b.bytes - a.bytes)
      return { folder: path, total: entries.length, entries: entries.slice(0, limit) }
    },

    async searchText(input: Input) {
      const expression = createExpression(input)
      const folder = textIn(input, 'path', '.')
      const include = textsIn(input, 'include')
      const exclude = textsIn(input, 'exclude')
      const limit = numberIn(input, 'limit', 50)
      const around = numberIn(input, 'context_lines', 0)
      const hits: { path: string; line: number; text: string }[] = []
      for (const file of await store.listFiles(folder)) {
        if (include.length > 0 && !include.some((glob) => matchesGlob(file, glob))) continue
        if (exclude.some((glob) => matchesGlob(file, glob))) continue
        const path = folder === '.' ? file : `${folder}/${file}`
        const rows = (await store.readText(path)).split('\n')
        for (const [index, row] of rows.entries()) {
          if (!expression.test(row)) continue
          const shown = rows.slice(Math.max(0, index - around), index + around + 1)
          hits.push({ path, line: index + 1, text: shown.join('\n') })
        }
      }
      return { total: hits.length, hits: hits.slice(0, limit) }
    },

    /** Stands in for a person: takes the recommended option, else the first, else says to go on. */
    async askUser(input: Input) {
      textIn(input, 'question')
      const options = objectsIn(input, 'options')
      const picked = options.find((option) => flagIn(option, 'recommended', false)) ?? options[0]
      return { answer: picked ? textIn(picked, 'label') : 'Yes, go on as you propose.' }
    },

    async todoWrite(input: Input) {
      const items = objectsIn(input, 'items')
      const active = items.filter((item) => textIn(item, 'status') === 'in_progress')
      if (active.length > 1)
        throw new Error('More than one step is in progress. Leave one, set the others to pending.')
      await store.writeJson('.workshop/todo.json', items)
      const done = items.filter((item) => item.status === 'done').length
      return { steps: items.length, done, current: active[0] ? textIn(active[0], 'text') : null }
    },
  }
}

function createExpression(input: Input): RegExp {
  const pattern = textIn(input, 'pattern')
  const source = flagIn(input, 'is_regex', false) ? pattern : pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  try {
    return new RegExp(source, flagIn(input, 'case_sensitive', true) ? '' : 'i')
  } catch {
    throw new Error(
      `"${pattern}" is not a regular expression. Correct it, or leave out is_regex for plain text.`,
    )
  }
}
