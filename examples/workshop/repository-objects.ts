/** What the repository server keeps in `.repository`: contents by hash, commits, and where branches stand. */
import { createHash } from 'node:crypto'
import type { Store } from './store.ts'

/** Path to content hash. */
export type Tree = Record<string, string>

export interface Commit {
  id: string
  position: number
  parents: string[]
  branch: string
  summary: string
  body: string
  trailers: Record<string, string>
  author: string
  date: string
  tree: Tree
}

export interface State {
  branches: Record<string, { head: string | null; description: string }>
  /** The branch of the workspace folder itself. */
  current: string
  worktrees: Record<string, { branch: string; purpose: string }>
  /** The worktree that calls act on, or null for the workspace folder. */
  active: string | null
  commits: number
}

export type Change = { path: string; change: 'added' | 'modified' | 'removed' }

const stateFile = '.repository/state.json'
const hashOf = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')

export function createObjects(store: Store) {
  const loadState = () =>
    store.readJson<State>(stateFile, {
      branches: { main: { head: null, description: '' } },
      current: 'main',
      worktrees: {},
      active: null,
      commits: 0,
    })

  const commitFile = (id: string) => `.repository/commits/${id}.json`
  const readObject = (hash: string) => store.readBytes(`.repository/objects/${hash}`)

  async function loadCommit(id: string): Promise<Commit> {
    const commit = await store.readJson<Commit | undefined>(commitFile(id), undefined)
    if (!commit) throw new Error(`There is no commit "${id}". See list_commits.`)
    return commit
  }

  const treeOf = async (id: string | null): Promise<Tree> => (id === null ? {} : (await loadCommit(id)).tree)

  return {
    loadState,
    saveState: (state: State) => store.writeJson(stateFile, state),
    loadCommit,
    treeOf,
    readObject,

    /** The folder and branch that calls act on now. */
    placeOf: (state: State): { root: string; branch: string } => {
      const worktree = state.active === null ? undefined : state.worktrees[state.active]
      return worktree
        ? { root: `.worktrees/${state.active}`, branch: worktree.branch }
        : { root: '.', branch: state.current }
    },

    /** Hashes the visible files below a folder, and keeps their content when asked to. */
    async snapshot(root: string, options: { keep: boolean }): Promise<Tree> {
      const tree: Tree = {}
      for (const path of await store.listFiles(root)) {
        const content = await store.readBytes(`${root}/${path}`)
        const hash = hashOf(content)
        tree[path] = hash
        if (options.keep) await store.write(`.repository/objects/${hash}`, content)
      }
      return tree
    },

    /** The id of a commit is the hash of all it says, so equal histories have equal ids. */
    async saveCommit(commit: Omit<Commit, 'id'>): Promise<Commit> {
      const id = hashOf(JSON.stringify(commit)).slice(0, 12)
      await store.writeJson(commitFile(id), { id, ...commit })
      return { id, ...commit }
    },

    /** Resolves `HEAD`, a branch, or the start of a commit id; null is a branch without commits. */
    async resolveRevision(state: State, revision: string, head: string | null): Promise<string | null> {
      if (revision === 'HEAD') return head
      const branch = Object.hasOwn(state.branches, revision) ? state.branches[revision] : undefined
      if (branch) return branch.head
      const ids = (await store.listFiles('.repository/commits')).map((file) => file.replace('.json', ''))
      const [id, other] =
        revision.length >= 4 ? ids.filter((candidate) => candidate.startsWith(revision)) : []
      if (id === undefined)
        throw new Error(`"${revision}" is neither a branch nor a commit. See list_branches and list_commits.`)
      if (other !== undefined)
        throw new Error(`"${revision}" begins several commit ids. Give more characters.`)
      return id
    },

    /** A commit and everything before it, newest first. */
    async historyOf(id: string | null): Promise<Commit[]> {
      const found = new Map<string, Commit>()
      const waiting = id === null ? [] : [id]
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (found.has(next)) continue
        const commit = await loadCommit(next)
        found.set(next, commit)
        waiting.push(...commit.parents)
      }
      return [...found.values()].sort((a, b) => b.position - a.position)
    },

    /** Turns the files of a folder from one tree into another; files in neither are left alone. */
    async checkOut(root: string, from: Tree, to: Tree, only?: ReadonlySet<string>): Promise<void> {
      for (const path of Object.keys(from))
        if (!Object.hasOwn(to, path) && (!only || only.has(path))) await store.remove(`${root}/${path}`)
      for (const [path, hash] of Object.entries(to))
        if (!only || only.has(path)) await store.write(`${root}/${path}`, await readObject(hash))
    },
  }
}

export function changesBetween(from: Tree, to: Tree): Change[] {
  const paths = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()
  return paths.flatMap((path): Change[] => {
    const [before, after] = [from[path], to[path]]
    if (before === after) return []
    if (before === undefined) return [{ path, change: 'added' }]
    return [{ path, change: after === undefined ? 'removed' : 'modified' }]
  })
}
