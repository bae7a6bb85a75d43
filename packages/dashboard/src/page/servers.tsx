/** Servers, and one server: its state, log and definitions, and changes to approve. */
import type {
  ApprovalAnswer,
  DefinitionChange,
  DefinitionRow,
  FindingRow,
  ServerDetail,
  ServerRow,
  ServerState,
  ServersAnswer,
} from '@toolwell/gateway/api'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bytes, count, duration, indentJson, plural, shortFolder, visible } from './format.js'
import { attempt, clock, offerUndo, post, revisions, session, toast, useAnswer } from './gateway.js'
import { SignIn } from './now.js'
import { pathTo, place } from './router.js'
import { STATES } from './tools.js'
import { Ago, Answer, Data, Empty, Facts, Page, Problem, Scroll } from './ui.js'
import { diffWords } from './word-diff.js'

/** The word, its tone, and what it means. */
const STATE: Readonly<Record<ServerState, readonly [string, '' | 'bad' | 'warn', string]>> = {
  cached: ['not started', '', 'Its tools are known from an earlier start. It starts with its first call.'],
  connecting: ['starting', '', 'The gateway is starting it.'],
  ready: ['running', '', 'It answers calls.'],
  idle: ['idle', '', 'The gateway stopped it because nobody used it. It starts with its next call.'],
  failed: ['failed', 'bad', 'It could not be started, or it ended.'],
  disabled: ['disabled', '', 'The config disables it.'],
  quarantined: ['quarantined', 'warn', 'It waits for your approval.'],
  'needs-login': ['needs sign-in', 'warn', 'It needs a sign-in.'],
}

const toneOf = ({ state, quarantined }: ServerRow) => STATE[state][1] || (quarantined > 0 ? 'warn' : '')
const urgency = (server: ServerRow) => ['bad', 'warn', ''].indexOf(toneOf(server))

export function Servers() {
  const servers = useAnswer<ServersAnswer>('servers?set=*', revisions.servers.value)
  const { query } = place.value
  const name = query.get('server')
  return (
    <Page
      title="Servers"
      about="The state, processes and definitions of each server, and changes to approve."
    >
      <Answer from={servers}>
        {({ servers: all }) => {
          if (all.length === 0)
            return (
              <Empty title="No servers yet">
                This page shows the state, log and definitions of each server. Add one to{' '}
                <code>
                  {session.value?.sets[0]?.missing[0] ?? session.value?.sets[0]?.files[0] ?? 'toolwell.json'}
                </code>
                .
              </Empty>
            )
          const sorted = [...all].sort(
            (one, other) => urgency(one) - urgency(other) || one.name.localeCompare(other.name),
          )
          const set = query.get('set')
          const shown =
            name === null
              ? undefined
              : sorted.find((each) => each.name === name && (!set || each.set === set))
          return (
            <div class={shown ? 'split shows-one' : 'split'}>
              <ServerList servers={sorted} shown={shown} />
              {shown ? (
                <One key={`${shown.set} ${shown.name}`} row={shown} />
              ) : name === null ? (
                <Empty title="Choose a server">
                  Its process, log and definitions are shown here. Servers with a problem come first.
                </Empty>
              ) : (
                <Empty title="No such server">
                  No server is called <Data text={name} />. It may have been removed from the config.
                </Empty>
              )}
            </div>
          )
        }}
      </Answer>
    </Page>
  )
}

function ServerList({ servers, shown }: { servers: readonly ServerRow[]; shown: ServerRow | undefined }) {
  const hasSets = new Set(servers.map(({ set }) => set)).size > 1
  return (
    <nav class="server-list" aria-label="Servers">
      <ul>
        {servers.map((server) => (
          <li key={`${server.set} ${server.name}`}>
            <a
              href={pathTo('servers', { set: server.set, server: server.name })}
              aria-current={server === shown ? 'true' : undefined}
            >
              <span class="name">
                <Data text={server.name} />
              </span>
              <span class={toneOf(server) || 'quiet'}>
                {STATE[server.state][0]}
                {server.quarantined > 0 &&
                  server.state !== 'quarantined' &&
                  `, ${count(server.quarantined)} waiting`}
              </span>
              <span class="quiet">
                {plural(server.tools, 'tool')}
                {hasSets && server.config !== undefined && ` · ${visible(shortFolder(server.config))}`}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function One({ row }: { row: ServerRow }) {
  const { set, name, state, reason, fix } = row
  const query = new URLSearchParams({ set, name })
  const detail = useAnswer<ServerDetail>(`server?${query}`, revisions.servers.value)
  const [isBusy, setBusy] = useState(false)
  const restart = async () => {
    setBusy(true)
    const isDone = await attempt(() => post<ServerRow>('servers/restart', { set, server: name }))
    setBusy(false)
    revisions.servers.value++
    if (isDone) toast.value = { text: `${visible(name)} was restarted.` }
  }
  const [word, tone, meaning] = STATE[state]
  return (
    <article class="server" aria-labelledby="server">
      <header class="section-head">
        <div>
          <a class="back" href={pathTo('servers')}>
            All servers
          </a>
          <h2 id="server">
            <Data text={name} />
          </h2>
          <p class="quiet">
            <Data text={row.description} />
          </p>
        </div>
        <div class="actions">
          {row.canLogIn && <SignIn set={set} server={name} />}
          <button type="button" disabled={isBusy} onClick={restart}>
            {isBusy ? 'Restarting …' : 'Restart'}
          </button>
        </div>
      </header>
      {state === 'failed' && (
        <Problem>
          <Data text={reason} />
          {fix !== '' && <span class="fix">{visible(fix)}</span>}
        </Problem>
      )}
      <Facts
        rows={[
          [
            'State',
            <span key="state">
              <b class={tone}>{word}</b>. {meaning}
              {state !== 'failed' && reason !== '' && ` ${visible(reason)}`}
              {state !== 'failed' && fix !== '' && ` ${visible(fix)}`}
            </span>,
          ],
          ['Runs', <code key="runs">{visible(row.endpoint)}</code>],
          ['Version', row.info && <Data key="version" text={`${row.info.name} ${row.info.version}`} />],
          ['Processes', <Processes key="processes" row={row} />],
          [
            'Tools',
            `${plural(row.tools, 'tool')}${row.quarantined > 0 ? `, ${count(row.quarantined)} quarantined` : ''}`,
          ],
          ['Listed', row.listedAt === undefined ? '' : <Ago key="listed" time={row.listedAt} />],
          [
            'Checked against',
            {
              lock: 'the lock file',
              'first-use': 'its first use',
              config: 'the config',
              nothing: 'nothing, because it is trusted',
            }[row.trusted],
          ],
          ['Config', row.config === undefined ? '' : <code key="config">{visible(row.config)}</code>],
        ]}
      />
      <Answer from={detail}>{(server) => <Details server={server} />}</Answer>
    </article>
  )
}

function Processes({ row: { processes, starts, sharedBy } }: { row: ServerRow }) {
  if (processes.length === 0) return <>none now, {plural(starts, 'start')} since the gateway started</>
  const shared = {
    everyone: 'shared by all clients',
    folder: 'one for each folder',
    client: 'one for each client',
    conversation: 'one for each conversation',
  }
  return (
    <>
      {shared[sharedBy]}
      <ul class="bare">
        {processes.map(({ pid, startedAt, memory, client, project, busy }) => (
          <li key={pid}>
            {[
              pid === undefined ? 'remote' : `process ${pid}`,
              startedAt === undefined ? '' : `up ${duration(clock.value - startedAt)}`,
              memory === undefined ? '' : bytes(memory),
              busy > 0 ? plural(busy, 'running call') : '',
              visible(client ?? ''),
              visible(shortFolder(project)),
            ]
              .filter(Boolean)
              .join(', ')}
          </li>
        ))}
      </ul>
    </>
  )
}

function Details({ server }: { server: ServerDetail }) {
  const { changes, commands, findings, definitions, instructions, log } = server
  return (
    <>
      {commands.length > 0 && (
        <section aria-labelledby="commands">
          <h3 id="commands">Commands to approve</h3>
          <p class="quiet">
            The config entry of this server runs these commands. The entry is not in your own config file.
          </p>
          <Scroll label="Commands">{visible(commands.join('\n'))}</Scroll>
          <Decide server={server} what="commands" name="the commands" seen={commands.join('\n')} />
        </section>
      )}
      {changes.length > 0 && (
        <section aria-labelledby="changes">
          <h3 id="changes">{plural(changes.length, 'change')} to approve</h3>
          {changes.map((change) => (
            <Change key={change.tool ?? ''} server={server} change={change} />
          ))}
        </section>
      )}
      {findings.length > 0 && (
        <section aria-labelledby="findings">
          <h3 id="findings">Findings</h3>
          <Findings findings={findings} />
        </section>
      )}
      <section aria-labelledby="log">
        <h3 id="log">Log</h3>
        {log.lines.length === 0 ? (
          <p class="quiet">Nothing yet. Lines that the server writes to standard error appear here.</p>
        ) : (
          <Log lines={log.lines} />
        )}
        <p class="quiet">
          <code>{visible(log.file)}</code>
        </p>
      </section>
      {instructions !== '' && (
        <section aria-labelledby="instructions">
          <h3 id="instructions">Instructions</h3>
          <p class="prose">
            <Data text={instructions} />
          </p>
        </section>
      )}
      <section aria-labelledby="definitions">
        <h3 id="definitions">{plural(definitions.length, 'definition')}</h3>
        {definitions.map((definition) => (
          <Definition key={definition.tool} row={definition} />
        ))}
      </section>
    </>
  )
}

/** Starts at its end, as a terminal does. */
function Log({ lines }: { lines: readonly string[] }) {
  const end = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const box = end.current?.parentElement
    if (box) box.scrollTop = box.scrollHeight
  }, [lines.length])
  return (
    <Scroll label="Log" class="log">
      {visible(lines.join('\n'))}
      <span ref={end} />
    </Scroll>
  )
}

const Definition = ({ row: { tool, state, description, definition, tokens } }: { row: DefinitionRow }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="name">
          <Data text={tool} />
        </span>
        <span class="quiet cut">
          <Data text={description} />
        </span>
        <span class={state === 'quarantined' ? 'warn' : 'quiet'}>{STATES[state]}</span>
        <span class="quiet number">{plural(tokens, 'token')}</span>
      </summary>
      {isOpen && <Scroll label={`Definition of ${visible(tool)}`}>{visible(indentJson(definition))}</Scroll>}
    </details>
  )
}

const Findings = ({ findings }: { findings: readonly FindingRow[] }) => (
  <ul class="findings">
    {findings.map(({ severity, tool, detail, fix }) => (
      <li key={`${tool} ${detail}`} class={severity === 'hard' ? 'bad' : ''}>
        {tool !== undefined && <code>{visible(tool)} </code>}
        <Data text={detail} />
        {fix !== undefined && <span class="fix">{visible(fix)}</span>}
      </li>
    ))}
  </ul>
)

function Change({ server, change }: { server: ServerDetail; change: DefinitionChange }) {
  const { kind, tool, reason, fields, findings, isPoisoned, seen } = change
  const name = tool ?? 'The server itself'
  return (
    <div class="change">
      <h4>
        <Data text={name} /> <span class="quiet">{kind}</span>
      </h4>
      <p class="quiet">
        <Data text={reason} />
      </p>
      {findings.length > 0 && <Findings findings={findings} />}
      {fields.map(({ path, before, after }) => (
        <div key={path} class="field-change">
          <code class="quiet">{visible(path)}</code>
          <p class="diff">
            {diffWords(visible(before ?? ''), visible(after ?? '')).map(({ kind: is, text }, index) =>
              is === 'same' ? (
                <span key={index}>{text}</span>
              ) : is === 'added' ? (
                <ins key={index}>{text}</ins>
              ) : (
                <del key={index}>{text}</del>
              ),
            )}
          </p>
        </div>
      ))}
      <Decide
        server={server}
        what="definition"
        name={name}
        isPoisoned={isPoisoned}
        seen={seen}
        {...(tool === undefined ? {} : { tool })}
      />
    </div>
  )
}

interface DecideProps {
  readonly server: ServerDetail
  readonly what: 'definition' | 'commands'
  readonly name: string
  readonly tool?: string
  readonly isPoisoned?: boolean
  readonly seen: string
}

function Decide({ server: { set, name: server }, what, name, tool, seen, isPoisoned = false }: DecideProps) {
  const [isSure, setSure] = useState(false)
  const decide = (decision: 'approve' | 'reject') =>
    attempt(async () => {
      const { written, change } = await post<ApprovalAnswer>('approvals', {
        set,
        server,
        what,
        decision,
        seen,
        ...(tool === undefined ? {} : { tool }),
        ...(isPoisoned && isSure ? { despiteFindings: true } : {}),
      })
      if (change) offerUndo(change)
      else toast.value = { text: `Approved in ${visible(written)}` }
      revisions.servers.value++
      revisions.tools.value++
    })
  return (
    <div class="actions">
      {isPoisoned && (
        <label>
          <input
            type="checkbox"
            checked={isSure}
            onChange={(event) => setSure(event.currentTarget.checked)}
          />{' '}
          I have read it and trust it
        </label>
      )}
      <button
        type="button"
        class="primary"
        disabled={isPoisoned && !isSure}
        onClick={() => decide('approve')}
      >
        Approve<span class="reader"> {visible(name)}</span>
      </button>
      <button
        type="button"
        title={tool === undefined ? 'Disables the server in the config' : 'Denies the tool in the config'}
        onClick={() => decide('reject')}
      >
        Reject<span class="reader"> {visible(name)}</span>
      </button>
    </div>
  )
}
