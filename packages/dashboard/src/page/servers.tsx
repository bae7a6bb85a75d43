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
import { attempt, clock, configFile, offerUndo, post, revisions, toast, useAnswer } from './gateway.js'
import { SignIn } from './now.js'
import { pathTo, place } from './router.js'
import { Ago, Answer, Button, Empty, Facts, Page, Problem, Scroll, Section } from './ui.js'
import { diffWords } from './word-diff.js'

/** The word, its tone, and what it means. */
const STATE: Readonly<Record<ServerState, readonly [string, '' | 'bad' | 'warn', string]>> = {
  cached: ['not started', '', 'Its tools are known from an earlier start. It starts with its first call.'],
  connecting: ['starting', '', 'The gateway is starting it.'],
  ready: ['running', '', 'It answers calls.'],
  idle: ['idle', '', 'It is not running, because nobody uses it. It starts with its next call.'],
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
                <code>{configFile()}</code>.
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
                  No server is called {visible(name)}. It may have been removed from the config.
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
              <span class="name">{visible(server.name)}</span>
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
    await attempt(async () => {
      const now = await post<ServerRow>('servers/restart', { set, server: name })
      toast.value =
        now.state === 'failed'
          ? { text: `${visible(name)} was restarted and failed.`, isProblem: true }
          : { text: `${visible(name)} was restarted.` }
    })
    setBusy(false)
    revisions.servers.value++
  }
  useEffect(() => {
    // After a link from another page, the keyboard starts at this server, not at the list.
    if (document.activeElement?.id === 'main') focusTitle()
  }, [])
  const [word, tone, meaning] = STATE[state]
  return (
    <article class="server" aria-labelledby="server">
      <header class="section-head">
        <div>
          <a class="back" href={pathTo('servers')}>
            All servers
          </a>
          <h2 id="server" tabIndex={-1}>
            {visible(name)}
          </h2>
        </div>
        <div class="actions">
          {row.canLogIn && <SignIn set={set} server={name} />}
          <Button disabled={isBusy} onClick={restart}>
            {isBusy ? 'Restarting …' : 'Restart'}
          </Button>
        </div>
      </header>
      {state === 'failed' && (
        <Problem>
          {visible(reason)}
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
          ['Version', row.info && visible(`${row.info.name} ${row.info.version}`)],
          ['Processes', <Processes key="processes" row={row} />],
          [
            'Tools',
            `${plural(row.tools, 'tool')}${row.quarantined > 0 ? `, ${count(row.quarantined)} quarantined` : ''}`,
          ],
          ['Listed', row.listedAt === undefined ? '' : <Ago key="listed" time={row.listedAt} />],
          [
            'Definitions',
            {
              lock: 'checked against the lock file',
              'first-use': 'checked against the first-use record',
              config: 'checked against the config',
              nothing: 'not checked, because the config trusts this server',
            }[row.trusted],
          ],
          ['Config', row.config === undefined ? '' : <code key="config">{visible(row.config)}</code>],
        ]}
      />
      <Answer from={detail}>{(server) => <Details server={server} />}</Answer>
    </article>
  )
}

const focusTitle = () => document.getElementById('server')?.focus({ preventScroll: true })

function Processes({ row: { processes, starts, sharedBy } }: { row: ServerRow }) {
  if (processes.length === 0)
    return <>none now{starts > 0 && `, started ${starts === 1 ? 'once' : `${count(starts)} times`} before`}</>
  const shared = {
    everyone: 'shared by all clients',
    folder: 'one for each folder',
    client: 'one for each client',
    conversation: 'one for each conversation',
  }
  return (
    <>
      {shared[sharedBy]}
      <ul>
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
        <Section level="h3" title="Commands to approve">
          <p class="quiet">
            The config entry of this server runs these commands. The entry is not in your own config file.
          </p>
          <Scroll label="Commands">{visible(commands.join('\n'))}</Scroll>
          <Decide server={server} what="commands" name="the commands" seen={commands.join('\n')} />
        </Section>
      )}
      {changes.length > 0 && (
        <Section level="h3" title={`${plural(changes.length, 'change')} to approve`}>
          {changes.map((change) => (
            <Change key={change.tool ?? ''} server={server} change={change} />
          ))}
        </Section>
      )}
      {findings.length > 0 && (
        <Section level="h3" title="Findings">
          <Findings findings={findings} />
        </Section>
      )}
      <Section level="h3" title="Log">
        {log.lines.length > 0 ? (
          <Log lines={log.lines} />
        ) : (
          <p class="quiet">Nothing yet. Lines that the server writes to standard error appear here.</p>
        )}
        <p class="quiet">
          <code>{visible(log.file)}</code>
        </p>
      </Section>
      {instructions !== '' && (
        <Section level="h3" title="Instructions">
          <p class="prose">{visible(instructions)}</p>
        </Section>
      )}
      {definitions.length > 0 && (
        <Section level="h3" title={plural(definitions.length, 'definition')}>
          {definitions.map((definition) => (
            <Definition key={definition.tool} {...definition} />
          ))}
        </Section>
      )}
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

function Definition({ tool, state, description, definition, tokens }: DefinitionRow) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="name">{visible(tool)}</span>
        <span class="quiet cut">{visible(description)}</span>
        <span class={state === 'quarantined' ? 'warn' : 'quiet'}>{state}</span>
        <span class="quiet number">{tokens > 0 && plural(tokens, 'token')}</span>
      </summary>
      {isOpen && <Scroll label={`Definition of ${visible(tool)}`}>{visible(indentJson(definition))}</Scroll>}
    </details>
  )
}

const Findings = ({ findings }: { findings: readonly FindingRow[] }) => (
  <ul class="findings">
    {findings.map(({ severity, tool, detail }) => (
      <li key={`${tool} ${detail}`} class={severity === 'hard' ? 'bad' : ''}>
        {tool !== undefined && <code>{visible(tool)} </code>}
        {visible(detail)}
      </li>
    ))}
  </ul>
)

function Change({ server, change }: { server: ServerDetail; change: DefinitionChange }) {
  const { kind, tool, reason, fields, findings, isPoisoned, seen } = change
  const name = tool ?? server.name
  return (
    <div class="change">
      <h4>
        {visible(name)} <span class="quiet">{kind}</span>
      </h4>
      {fields.length === 0 && <p class="quiet">{visible(reason)}</p>}
      {findings.length > 0 && <Findings findings={findings} />}
      {fields.map(({ path, before, after }) => (
        <div key={path}>
          <code class="quiet">{visible(path)}</code>
          <p class="diff">
            {diffWords(visible(before ?? ''), visible(after ?? '')).map(({ kind: is, text }, index) => {
              const Word = ({ same: 'span', added: 'ins', removed: 'del' } as const)[is]
              return <Word key={index}>{text}</Word>
            })}
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
      const { change } = await post<ApprovalAnswer>('approvals', {
        set,
        server,
        what,
        decision,
        seen,
        ...(tool === undefined ? {} : { tool }),
        ...(isPoisoned && isSure ? { despiteFindings: true } : {}),
      })
      if (change) offerUndo(change)
      else toast.value = { text: `Approved ${visible(name)}.` }
      // The button goes away.
      focusTitle()
      revisions.servers.value++
      revisions.tools.value++
    })
  return (
    <div class="actions">
      {isPoisoned && (
        <label>
          <input type="checkbox" checked={isSure} onChange={() => setSure(!isSure)} /> I have read it and
          trust it
        </label>
      )}
      <Button class="primary" disabled={isPoisoned && !isSure} onClick={() => decide('approve')}>
        Approve<span class="reader"> {visible(name)}</span>
      </Button>
      <Button
        title={tool === undefined ? 'Disables the server in the config' : 'Denies the tool in the config'}
        onClick={() => decide('reject')}
      >
        Reject<span class="reader"> {visible(name)}</span>
      </Button>
    </div>
  )
}
