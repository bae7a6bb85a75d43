/** One table of all tools, with changes for many at once. */
import type {
  ChangePreview,
  ChangeRequest,
  ChangeResult,
  FileChange,
  Risk,
  ToolAction,
  ToolRow,
  ToolState,
  ToolsAnswer,
} from '@toolwell/gateway/api'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { count, duration, plural, short, visible } from './format.js'
import { attempt, offerUndo, post, revisions, session, useAnswer } from './gateway.js'
import { pathTo, place, queryFilter, setQuery } from './router.js'
import { type Column, numberColumn, type Sort, Table, textColumn } from './table.js'
import { Ago, Answer, Button, Choices, Dialog, Empty, Facts, Filter, Page, Section, ToolName } from './ui.js'

const RISKS: Readonly<Record<Risk, readonly [string, string]>> = {
  'read-only': ['read-only', 'You marked it read-only.'],
  'claims-read-only': ['read-only?', 'Its server says that it only reads. Nobody has checked this.'],
  changes: ['changes', 'Its server says that it changes something.'],
  destructive: ['destructive', 'Its server says that it may delete or overwrite.'],
  unknown: ['unknown', 'Its server does not say what it does.'],
}

const STATES = ['pinned', 'eager', 'deferred', 'denied', 'quarantined'] as const satisfies ToolState[]

const ACTIONS: readonly (readonly [ToolAction, string, string])[] = [
  ['pin', 'Pin', 'Agents get them in every request'],
  ['defer', 'Defer', 'Hidden until a search finds them'],
  ['deny', 'Deny', 'No agent can find or call them'],
  ['allow', 'Allow', 'The config no longer denies them'],
  ['read-only', 'Mark read-only', 'Agents may run them with run_read_only_tool'],
  ['not-read-only', 'Unmark read-only', 'Agents must run them with run_tool'],
]

interface View {
  readonly title: string
  readonly about: string
  readonly has: (tool: ToolRow) => boolean
  readonly sort: Sort
}

const VIEWS: Readonly<Record<string, View>> = {
  all: { title: 'All', about: '', has: () => true, sort: { key: 'server', isDescending: false } },
  unused: {
    title: 'Never used',
    about: 'No agent has called these. The largest definitions come first: defer or deny them.',
    has: ({ calls, state }) => calls === 0 && state !== 'denied',
    sort: { key: 'definition', isDescending: true },
  },
  searched: {
    title: 'Often searched',
    about: 'Agents called each of these at least three times after a search. A pinned tool needs no search.',
    has: ({ searched, state }) => searched >= 3 && state === 'deferred',
    sort: { key: 'searched', isDescending: true },
  },
  largest: {
    title: 'Largest results',
    about: 'The results of these add the most tokens to the conversations of your agents.',
    has: ({ responseTokens }) => responseTokens > 0,
    sort: { key: 'response', isDescending: true },
  },
  waiting: {
    title: 'Waiting for approval',
    about: 'Their definitions are new or changed. Agents cannot find or call them until you approve.',
    has: ({ state }) => state === 'quarantined',
    sort: { key: 'tool', isDescending: false },
  },
}

const tokens = (value: number) => (
  <>
    {short(value)} <span class="unit">tok</span>
  </>
)

const columns: readonly Column<ToolRow>[] = [
  textColumn('tool', 'Tool', ({ tool }) => tool, {
    cell: ({ tool, description }) => (
      <span title={`${visible(tool)}\n${visible(description)}`}>{visible(tool)}</span>
    ),
  }),
  textColumn('server', 'Server', ({ server, tool }) => `${server}/${tool}`, {
    width: 9.5,
    cell: ({ server }) => visible(server),
  }),
  {
    key: 'description',
    title: 'Description',
    room: 'wide-only',
    cell: ({ description }) => <span class="quiet">{visible(description)}</span>,
  },
  textColumn('state', 'State', ({ state }) => state, {
    width: 6.75,
    cell: ({ state, why }) => (
      <span
        class={state === 'quarantined' ? 'warn' : state === 'deferred' ? 'quiet' : ''}
        title={visible(why)}
      >
        {state}
      </span>
    ),
  }),
  textColumn('risk', 'Risk', ({ risk }) => risk, {
    width: 6.75,
    cell: ({ risk }) => (
      <span class="quiet" title={RISKS[risk][1]}>
        {RISKS[risk][0]}
      </span>
    ),
  }),
  numberColumn('calls', 'Calls', 4, ({ calls }) => calls),
  numberColumn('errors', 'Failed', 4.75, ({ errors }) => errors, {
    show: (errors) => <span class="bad">{count(errors)}</span>,
  }),
  {
    key: 'used',
    title: 'Last use',
    width: 6.75,
    isNumber: true,
    cell: ({ lastUsed }) =>
      lastUsed === undefined ? <span class="quiet">never</span> : <Ago time={lastUsed} />,
    sortBy: ({ lastUsed = 0 }) => lastUsed,
  },
  numberColumn('definition', 'Definition', 6.75, ({ definitionTokens }) => definitionTokens, {
    about: 'Tokens of the definition',
    show: tokens,
  }),
  numberColumn('response', 'Results', 6, ({ responseTokens }) => responseTokens, {
    about: 'Tokens of all results',
    show: tokens,
  }),
  numberColumn('searched', 'Searched', 6.25, ({ searched }) => searched, {
    about: 'How often a recent search was followed by a call of this tool',
  }),
  numberColumn('p50', 'p50', 5, ({ p50 = -1 }) => p50, {
    about: 'Half of the calls are faster',
    room: 'wide-only',
    cell: ({ p50 }) => p50 !== undefined && duration(p50),
  }),
  numberColumn('p95', 'p95', 5, ({ p95 = -1 }) => p95, {
    about: '95 % of the calls are faster',
    cell: ({ p95 }) => p95 !== undefined && duration(p95),
  }),
]

const keyOf = ({ set, server, tool }: ToolRow) => JSON.stringify([set, server, tool])

export function Tools() {
  const tools = useAnswer<ToolsAnswer>('tools?set=*', revisions.tools.value + revisions.calls.value)
  return (
    <Page
      fills
      title="Tools"
      about="Every tool of every server, with its cost, state and use."
      aside={<History />}
    >
      <Answer from={tools}>
        {({ tools: all }) =>
          all.length > 0 ? (
            <ToolTable all={all} />
          ) : (
            <Empty title="No tools yet">
              This page lists every tool with its cost and use. Add a server, for example with{' '}
              <code>{session.value?.command} import</code>.
            </Empty>
          )
        }
      </Answer>
    </Page>
  )
}

function ToolTable({ all }: { all: readonly ToolRow[] }) {
  const { query } = place.value
  const name = Object.hasOwn(VIEWS, query.get('view') ?? '') ? (query.get('view') ?? 'all') : 'all'
  const { about, has, sort: own } = VIEWS[name] as View
  const [server, state, text] = ['server', 'state', 'text'].map((key) => query.get(key) ?? '')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [open, setOpen] = useState<ToolRow>()
  const [action, setAction] = useState<ToolAction>()
  const servers = useMemo(() => [...new Set(all.map((tool) => tool.server))].sort(), [all])
  const rows = useMemo(() => {
    const words = (text ?? '').toLowerCase().split(/\s+/).filter(Boolean)
    return all.filter(
      (tool) =>
        has(tool) &&
        (!server || tool.server === server) &&
        (!state || tool.state === state) &&
        words.every((word) => `${tool.server}/${tool.tool} ${tool.description}`.toLowerCase().includes(word)),
    )
  }, [all, has, server, state, text])
  const sort = query.get('sort') ? { key: query.get('sort') ?? '', isDescending: query.has('down') } : own
  // Rows that a filter hides are not changed.
  const chosen = rows.filter((tool) => selected.has(keyOf(tool)))
  const sum = rows.reduce((total, tool) => total + tool.definitionTokens, 0)
  return (
    <>
      <Choices
        label="Saved filters"
        value={name}
        options={Object.entries(VIEWS).map(([key, { title, has: fits }]) => [
          key,
          `${title} ${count(all.filter(fits).length)}`,
        ])}
        onChange={(view) =>
          setQuery({ view: view === 'all' ? undefined : view, sort: undefined, down: undefined })
        }
      />
      {about !== '' && <p class="quiet">{about}</p>}
      <div class="filters">
        <input
          type="search"
          data-search
          placeholder="Name or description"
          aria-label="Name or description"
          value={text}
          onInput={(event) => setQuery({ text: event.currentTarget.value })}
        />
        <Filter label="Server" options={servers} {...queryFilter('server')} />
        <Filter label="State" options={STATES} {...queryFilter('state')} />
        <span class="quiet" role="status">
          {plural(rows.length, 'tool')}, {short(sum)} tokens of definitions
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty title="No matching tools">
          {name === 'searched'
            ? 'A deferred tool is listed here when agents have called it three times after a search.'
            : 'No tool matches all filters.'}{' '}
          <a href={pathTo('tools')}>Show all tools</a>
        </Empty>
      ) : (
        <Table
          fills
          label="Tools"
          filter={[name, server, state, text].join()}
          columns={columns}
          rows={rows}
          keyOf={keyOf}
          sort={sort}
          onSort={({ key, isDescending }) => setQuery({ sort: key, down: isDescending ? '1' : undefined })}
          onOpen={setOpen}
          selected={selected}
          onSelect={setSelected}
        />
      )}
      {chosen.length > 0 && (
        <div class="bulk" role="toolbar" aria-label="Change the selected tools">
          <span role="status">{plural(chosen.length, 'tool')} selected</span>
          <Actions onAction={setAction} />
          <Button class="plain" onClick={() => setSelected(new Set())}>
            Clear
          </Button>
        </div>
      )}
      {action && (
        <ChangeDialog
          request={{ action, tools: chosen.map(({ set, server: of, tool }) => ({ set, server: of, tool })) }}
          onClose={(isDone) => {
            setAction(undefined)
            if (isDone) setSelected(new Set())
          }}
        />
      )}
      {open && (
        <ToolDialog
          tool={open}
          onClose={() => setOpen(undefined)}
          onAction={(next) => {
            setOpen(undefined)
            setSelected(new Set([keyOf(open)]))
            setAction(next)
          }}
        />
      )}
    </>
  )
}

const Actions = ({ onAction }: { onAction: (action: ToolAction) => void }) =>
  ACTIONS.map(([key, title, hint]) => (
    <Button key={key} title={hint} onClick={() => onAction(key)}>
      {title}
    </Button>
  ))

interface ToolDialogProps {
  readonly tool: ToolRow
  readonly onClose: () => void
  readonly onAction: (action: ToolAction) => void
}

function ToolDialog({ tool, onClose, onAction }: ToolDialogProps) {
  const { set, server, state, why, risk, description, calls, errors, refused, p50, p95, lastUsed } = tool
  return (
    <Dialog isPanel title={<ToolName {...tool} />} onClose={onClose}>
      <p class="prose">{visible(description)}</p>
      <Facts
        rows={[
          ['State', visible(`${state}. ${why}`)],
          ['Risk', `${RISKS[risk][0]}. ${RISKS[risk][1]}`],
          ['Calls', `${count(calls)}, ${count(errors)} failed, ${count(refused)} refused`],
          ['Last use', lastUsed === undefined ? 'never' : <Ago key="used" time={lastUsed} />],
          ['Duration', p50 === undefined ? '' : `p50 ${duration(p50)}, p95 ${duration(p95 ?? p50)}`],
          ['Definition', plural(tool.definitionTokens, 'token')],
          [
            'Results',
            `${plural(tool.responseTokens, 'token')}, ${count(tool.largestResponse)} in the longest`,
          ],
        ]}
      />
      <div class="actions">
        <Actions onAction={onAction} />
      </div>
      <p>
        <a href={pathTo('servers', { set, server })}>Server {visible(server)}</a> ·{' '}
        <a href={pathTo('work', { server, tool: tool.tool })}>Calls of this tool</a>
      </p>
    </Dialog>
  )
}

/** Shows the lines that a change writes, before it is written. */
function ChangeDialog({ request, onClose }: { request: ChangeRequest; onClose: (isDone: boolean) => void }) {
  const [preview, setPreview] = useState<ChangePreview>()
  const [, title = '', hint = ''] = ACTIONS.find(([key]) => key === request.action) ?? []
  useEffect(() => {
    void attempt(async () => setPreview(await post<ChangePreview>('changes/preview', request))).then(
      (isDone) => isDone || onClose(false),
    )
  }, [])
  const write = () =>
    attempt(async () => {
      offerUndo(await post<ChangeResult>('changes', request))
      revisions.tools.value++
      onClose(true)
    })
  const changed = preview?.files.filter(({ lines }) => lines.some(({ kind }) => kind !== 'kept')) ?? []
  return (
    <Dialog title={`${title}: ${plural(request.tools.length, 'tool')}`} onClose={() => onClose(false)}>
      <p class="quiet">{hint}.</p>
      {preview === undefined && <div class="loading" aria-busy="true" />}
      {preview && (
        <>
          {changed.length === 0 && <p>There is nothing to write. The config already says this.</p>}
          <Lines files={changed} />
          {preview.skipped.length > 0 && (
            <details>
              <summary>{plural(preview.skipped.length, 'tool')} skipped</summary>
              <ul>
                {preview.skipped.slice(0, 50).map(({ server, tool, reason }) => (
                  <li key={`${server}/${tool}`}>{visible(`${server}/${tool}: ${reason}`)}</li>
                ))}
              </ul>
            </details>
          )}
          <footer>
            <Button onClick={() => onClose(false)}>Cancel</Button>
            {changed.length > 0 && (
              <Button class="primary" onClick={write}>
                Write {changed.length === 1 ? 'this change' : `${changed.length} files`}
              </Button>
            )}
          </footer>
        </>
      )}
    </Dialog>
  )
}

const MARKS = { kept: ' ', added: '+', removed: '−' } as const

/** Lines are left out before this one. */
const isGap = (lines: FileChange['lines'], at: number) =>
  lines[at]?.kind === 'kept' &&
  lines[at - 1]?.kind === 'kept' &&
  lines[at].line !== (lines[at - 1]?.line ?? 0) + 1

const Lines = ({ files }: { files: readonly FileChange[] }) => (
  <>
    {files.map(({ path, lines }) => (
      <section key={path} class="lines" aria-label={visible(path)}>
        <h3>
          <code>{visible(path)}</code>
        </h3>
        <ol tabIndex={0}>
          {lines.map(({ kind, line, text }, at) => (
            <li key={`${kind}${line}`} class={isGap(lines, at) ? 'gap' : kind}>
              <span>{line}</span>
              <span>{MARKS[kind]}</span>
              <code>{visible(text)}</code>
            </li>
          ))}
        </ol>
      </section>
    ))}
  </>
)

/** Changes made here, with undo. */
function History() {
  const [isOpen, setOpen] = useState(false)
  const changes = useAnswer<{ readonly changes: readonly ChangeResult[] }>(
    isOpen ? 'changes' : undefined,
    revisions.tools.value,
  )
  const undo = ({ id }: ChangeResult) =>
    attempt(async () => {
      await post(`changes/${id}/undo`, {})
      revisions.tools.value++
    })
  return (
    <>
      <Button onClick={() => setOpen(true)}>Changes</Button>
      {isOpen && (
        <Dialog isPanel title="Changes" onClose={() => setOpen(false)}>
          <Answer from={changes}>
            {({ changes: all }) => (
              <>
                {all.length === 0 && (
                  <Empty title="No changes yet">
                    Each change you make here is listed with the lines it wrote, and can be undone.
                  </Empty>
                )}
                {all.map((change) => (
                  <Section
                    key={change.id}
                    level="h3"
                    title={
                      <>
                        {visible(change.title)}{' '}
                        <span class="quiet">
                          <Ago time={change.time} />
                        </span>
                      </>
                    }
                    aside={change.isUndoable && <Button onClick={() => undo(change)}>Undo</Button>}
                  >
                    <Lines files={change.files} />
                  </Section>
                ))}
              </>
            )}
          </Answer>
        </Dialog>
      )}
    </>
  )
}
