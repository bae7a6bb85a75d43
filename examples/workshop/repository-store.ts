/** What the repository server does: snapshots of visible files, on branches and in worktrees. */
import { clock } from './clock.ts'
import { flagIn, type Input, numberIn, objectIn, objectsIn, optionalText, textIn, textsIn } from './input.ts'
import { diffLines } from './line-diff.ts'
import {
  type Change,
  type Commit,
  changesBetween,
  createObjects,
  type State,
  type Tree,
} from './repository-objects.ts'
import { matchesGlob, type Store } from './store.ts'

export function createRepository(store: Store) {
  const objects = createObjects(store)

  async function here() {
    const state = await objects.loadState()
    const { root, branch } = objects.placeOf(state)
    const head = state.branches[branch]?.head ?? null
    return { state, root, branch, head, tree: await objects.treeOf(head) }
  }

  async function requireClean(root: string, tree: Tree): Promise<void> {
    const dirty = changesBetween(tree, await objects.snapshot(root, { keep: false })).filter(
      ({ change }) => change !== 'added',
    )
    if (dirty.length > 0)
      throw new Error(
        `Uncommitted changes in ${dirty.map(({ path }) => path).join(', ')}. Commit or restore them first.`,
      )
  }

  function requireBranch(state: State, name: string) {
    const branch = Object.hasOwn(state.branches, name) ? state.branches[name] : undefined
    if (!branch)
      throw new Error(`There is no branch "${name}". See list_branches, or create it with create_branch.`)
    return branch
  }

  function requireFree(state: State, branch: string): void {
    const holder = Object.entries(state.worktrees).find(([, worktree]) => worktree.branch === branch)?.[0]
    if (holder !== undefined)
      throw new Error(`Branch "${branch}" is in use by worktree "${holder}". Enter that worktree instead.`)
    if (state.current === branch)
      throw new Error(`Branch "${branch}" is in use by the workspace folder. Pick another branch.`)
  }

  async function commitTree(
    state: State,
    branch: string,
    parents: string[],
    tree: Tree,
    words: Pick<Commit, 'summary'> & Partial<Commit>,
  ) {
    const commit = await objects.saveCommit({
      position: state.commits + 1,
      parents,
      branch,
      summary: words.summary,
      body: words.body ?? '',
      trailers: words.trailers ?? {},
      author: words.author ?? 'assistant',
      date: words.date ?? clock.now(),
      tree,
    })
    state.commits += 1
    state.branches[branch] = { description: state.branches[branch]?.description ?? '', head: commit.id }
    await objects.saveState(state)
    return commit
  }

  async function patchOf({ path, change }: Change, from: Tree, to: Tree, input: Input) {
    const [before, after] = await Promise.all([contentOf(from[path]), contentOf(to[path])])
    if (before.includes('\0') || after.includes('\0')) return { path, change, binary: true }
    const options = {
      contextLines: numberIn(input, 'context_lines', 3),
      ignoreWhitespace: flagIn(input, 'ignore_whitespace', false),
    }
    return { path, change, ...diffLines(before, after, options) }
  }

  const contentOf = async (hash: string | undefined) =>
    hash === undefined ? '' : (await objects.readObject(hash)).toString('utf8')

  const selects = (globs: string[], path: string) =>
    globs.length === 0 || globs.some((glob) => matchesGlob(path, glob) || path.startsWith(`${glob}/`))

  return {
    async status(input: Input) {
      const { state, root, branch, head, tree } = await here()
      const changes = changesBetween(tree, await objects.snapshot(root, { keep: false }))
        .filter(({ path }) => selects(textsIn(input, 'paths'), path))
        .filter(({ change }) => change !== 'added' || flagIn(input, 'include_new_files', true))
      return { branch, head, worktree: state.active, clean: changes.length === 0, changes }
    },

    async createCommit(input: Input) {
      const { state, root, branch, head, tree } = await here()
      const globs = textsIn(input, 'paths')
      const files = await objects.snapshot(root, { keep: true })
      const chosen = changesBetween(tree, files).filter(({ path }) => selects(globs, path))
      if (chosen.length === 0 && !flagIn(input, 'allow_empty', false))
        throw new Error('Nothing to commit. Change a file first, widen paths, or set allow_empty.')
      const next = { ...tree }
      for (const { path } of chosen) {
        const hash = files[path]
        if (hash === undefined) delete next[path]
        else next[path] = hash
      }
      const message = objectIn(input, 'message')
      const author = objectIn(input, 'author')
      const trailers = objectsIn(message, 'trailers').map((entry) => [
        textIn(entry, 'key'),
        textIn(entry, 'value'),
      ])
      const { tree: _, ...commit } = await commitTree(state, branch, head === null ? [] : [head], next, {
        summary: textIn(message, 'summary'),
        body: textIn(message, 'body', ''),
        trailers: Object.fromEntries(trailers),
        author: textIn(author, 'name', 'assistant'),
        date: textIn(input, 'date', clock.now()),
      })
      return { ...commit, changes: chosen }
    },

    async showCommit(input: Input) {
      const { state, head } = await here()
      const id = await objects.resolveRevision(state, textIn(input, 'revision', 'HEAD'), head)
      if (id === null) throw new Error('This branch has no commits yet. Make one with create_commit.')
      const { tree, ...commit } = await objects.loadCommit(id)
      const parent = await objects.treeOf(commit.parents[0] ?? null)
      const changes = changesBetween(parent, tree).filter(({ path }) =>
        selects(textsIn(input, 'paths'), path),
      )
      const detail = textIn(input, 'detail', 'names')
      if (detail === 'message') return commit
      if (detail === 'names') return { ...commit, changes }
      return {
        ...commit,
        changes: await Promise.all(changes.map((change) => patchOf(change, parent, tree, input))),
      }
    },

    async listCommits(input: Input) {
      const { state, head } = await here()
      const start = await objects.resolveRevision(state, textIn(input, 'revision', 'HEAD'), head)
      const [author, since, until] = ['author', 'since', 'until'].map((name) => optionalText(input, name))
      const words = optionalText(input, 'message_contains')?.toLowerCase()
      const globs = textsIn(input, 'paths')
      const found = []
      for (const { tree, ...commit } of await objects.historyOf(start)) {
        if (author !== undefined && commit.author !== author) continue
        if (since !== undefined && commit.date.slice(0, since.length) < since) continue
        if (until !== undefined && commit.date.slice(0, until.length) > until) continue
        if (words !== undefined && !`${commit.summary}\n${commit.body}`.toLowerCase().includes(words))
          continue
        const changes = changesBetween(await objects.treeOf(commit.parents[0] ?? null), tree)
        if (globs.length > 0 && !changes.some(({ path }) => selects(globs, path))) continue
        found.push(flagIn(input, 'include_changes', false) ? { ...commit, changes } : commit)
      }
      const skip = numberIn(input, 'skip', 0)
      return { total: found.length, commits: found.slice(skip, skip + numberIn(input, 'limit', 20)) }
    },

    async compareRevisions(input: Input) {
      const { state, root, head } = await here()
      const target = optionalText(input, 'to')
      const from = await objects.treeOf(
        await objects.resolveRevision(state, textIn(input, 'from', 'HEAD'), head),
      )
      const to =
        target === undefined
          ? await objects.snapshot(root, { keep: true })
          : await objects.treeOf(await objects.resolveRevision(state, target, head))
      const changes = changesBetween(from, to).filter(({ path }) => selects(textsIn(input, 'paths'), path))
      if (textIn(input, 'format', 'patch') === 'names') return { files: changes }
      const files = await Promise.all(changes.map((change) => patchOf(change, from, to, input)))
      if (textIn(input, 'format', 'patch') === 'patch') return { files }
      return { files: files.map((file) => ('patch' in file ? { ...file, patch: undefined } : file)) }
    },

    async createBranch(input: Input) {
      const { state, head } = await here()
      const name = textIn(input, 'name')
      if (Object.hasOwn(state.branches, name))
        throw new Error(`Branch "${name}" exists. Switch to it, or pick another name.`)
      const start = await objects.resolveRevision(state, textIn(input, 'start_point', 'HEAD'), head)
      state.branches[name] = { head: start, description: textIn(input, 'description', '') }
      await objects.saveState(state)
      return { name, head: start }
    },

    async listBranches(input: Input) {
      const { state, branch: current } = await here()
      const pattern = textIn(input, 'pattern', '**')
      const names = Object.keys(state.branches).filter(
        (name) => pattern === '**' || matchesGlob(name, pattern),
      )
      const base = textIn(input, 'compare_with', 'main')
      const known = new Set((await objects.historyOf(requireBranch(state, base).head)).map(({ id }) => id))
      const branches = await Promise.all(
        names.sort().map(async (name) => {
          const { head, description } = requireBranch(state, name)
          const ahead = (await objects.historyOf(head)).filter(({ id }) => !known.has(id)).length
          return { name, head, description, current: name === current, ahead }
        }),
      )
      return { branches: branches.filter(({ ahead }) => ahead > 0 || !flagIn(input, 'only_unmerged', false)) }
    },

    async switchBranch(input: Input) {
      const { state, root, branch, tree } = await here()
      const name = textIn(input, 'name')
      const target = await objects.treeOf(requireBranch(state, name).head)
      if (name === branch) return { branch: name, changed_files: 0 }
      requireFree(state, name)
      const local = new Set(
        changesBetween(tree, await objects.snapshot(root, { keep: false })).map(({ path }) => path),
      )
      const moving = changesBetween(tree, target).map(({ path }) => path)
      const mode = textIn(input, 'on_local_changes', 'refuse')
      const clash = mode === 'discard' ? undefined : moving.find((path) => local.has(path))
      if (clash !== undefined)
        throw new Error(`"${clash}" has local changes that "${name}" would overwrite. Commit them first.`)
      if (mode === 'refuse') await requireClean(root, tree)
      await objects.checkOut(root, tree, target, mode === 'discard' ? undefined : new Set(moving))
      if (state.active === null) state.current = name
      else
        state.worktrees[state.active] = {
          purpose: state.worktrees[state.active]?.purpose ?? '',
          branch: name,
        }
      await objects.saveState(state)
      return { branch: name, changed_files: moving.length }
    },

    async mergeBranch(input: Input) {
      const { state, root, branch, head, tree } = await here()
      const name = textIn(input, 'source')
      const source = requireBranch(state, name).head
      const ours = new Set((await objects.historyOf(head)).map(({ id }) => id))
      if (source === null || ours.has(source))
        return { merged: false, reason: `"${branch}" already contains "${name}".` }
      const theirs = await objects.historyOf(source)
      const base = theirs.find(({ id }) => ours.has(id))
      const [before, incoming] = [base?.tree ?? {}, await objects.treeOf(source)]
      const strategy = textIn(input, 'strategy', 'merge_commit')
      const fastForward = head === null || base?.id === head
      if (strategy === 'fast_forward_only' && !fastForward)
        throw new Error(
          `"${branch}" has commits that "${name}" lacks. Use strategy "merge_commit" or "squash".`,
        )
      const mine = new Set(changesBetween(before, tree).map(({ path }) => path))
      const next = { ...tree }
      const conflicts: string[] = []
      const resolution = textIn(input, 'on_conflict', 'abort')
      for (const { path } of changesBetween(before, incoming)) {
        const conflict = mine.has(path) && tree[path] !== incoming[path]
        if (conflict) conflicts.push(path)
        if (conflict && resolution !== 'take_theirs') continue
        const hash = incoming[path]
        if (hash === undefined) delete next[path]
        else next[path] = hash
      }
      const changes = changesBetween(tree, next)
      if (flagIn(input, 'dry_run', false)) return { merged: false, conflicts, changes }
      if (conflicts.length > 0 && resolution === 'abort')
        throw new Error(
          `Both branches changed ${conflicts.join(', ')}. Choose on_conflict "take_ours" or "take_theirs".`,
        )
      await requireClean(root, tree)
      await objects.checkOut(root, tree, next, new Set(changes.map(({ path }) => path)))
      if (strategy === 'fast_forward_only') {
        state.branches[branch] = { ...requireBranch(state, branch), head: source }
        await objects.saveState(state)
        return { merged: true, head: source, conflicts, changes }
      }
      const parents = [...(head === null ? [] : [head]), ...(strategy === 'squash' ? [] : [source])]
      const summary = textIn(input, 'message', `Merge ${name} into ${branch}`)
      const commit = await commitTree(state, branch, parents, next, { summary })
      return { merged: true, head: commit.id, conflicts, changes }
    },

    async restoreFiles(input: Input) {
      const { state, root, head } = await here()
      const source = await objects.treeOf(
        await objects.resolveRevision(state, textIn(input, 'revision', 'HEAD'), head),
      )
      const files = await objects.snapshot(root, { keep: false })
      const removeNew = flagIn(input, 'remove_new_files', false)
      const changes = changesBetween(files, source)
        .filter(({ path }) => selects(textsIn(input, 'paths'), path))
        .filter(({ change }) => change !== 'removed' || removeNew)
      const dryRun = flagIn(input, 'dry_run', false)
      if (!dryRun) await objects.checkOut(root, files, source, new Set(changes.map(({ path }) => path)))
      return { restored: changes.map(({ path }) => path), written: !dryRun }
    },

    async enterWorktree(input: Input) {
      const { state, head } = await here()
      const name = textIn(input, 'name')
      if (!/^[a-z0-9][a-z0-9-]*$/.test(name))
        throw new Error('A worktree name has lower-case letters, digits and hyphens only.')
      if (!state.worktrees[name]) {
        const branch = textIn(input, 'branch', name)
        const start = await objects.resolveRevision(state, textIn(input, 'start_point', 'HEAD'), head)
        if (Object.hasOwn(state.branches, branch)) requireFree(state, branch)
        else state.branches[branch] = { head: start, description: '' }
        state.worktrees[name] = { branch, purpose: textIn(input, 'purpose', '') }
        await objects.checkOut(
          `.worktrees/${name}`,
          {},
          await objects.treeOf(state.branches[branch]?.head ?? null),
        )
      }
      state.active = name
      await objects.saveState(state)
      return { worktree: name, ...state.worktrees[name], folder: `.worktrees/${name}` }
    },

    async exitWorktree(input: Input) {
      const { state, root, branch, tree } = await here()
      if (state.active === null)
        throw new Error('You are not in a worktree. Enter one with enter_worktree first.')
      const name = state.active
      const remove = textIn(input, 'action', 'keep') === 'remove'
      if (remove) {
        const lost = changesBetween(tree, await objects.snapshot(root, { keep: false }))
        if (lost.length > 0 && !flagIn(input, 'discard_changes', false))
          throw new Error(
            `${lost.length} changed files would be lost. Use create_commit or set discard_changes.`,
          )
        await store.remove(root)
        delete state.worktrees[name]
      }
      state.active = null
      await objects.saveState(state)
      return { left: name, removed: remove, branch, now_on: state.current }
    },

    async listWorktrees(input: Input) {
      const { state } = await here()
      const entries = Object.entries(state.worktrees).map(async ([name, { branch, purpose }]) => {
        const folder = `.worktrees/${name}`
        const entry = { name, branch, purpose, folder, active: state.active === name }
        if (!flagIn(input, 'include_changes', false)) return entry
        const tree = await objects.treeOf(state.branches[branch]?.head ?? null)
        return { ...entry, changes: changesBetween(tree, await objects.snapshot(folder, { keep: false })) }
      })
      return { active: state.active, worktrees: await Promise.all(entries) }
    },
  }
}
