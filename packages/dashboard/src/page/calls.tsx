/** Calls: the table that Now and Work share, and one call with its arguments and result. */
import type { CallDetail, CallRow, CutText } from '@toolwell/gateway/api'
import { useState } from 'preact/hooks'
import { bytes, count, duration, indentJson, shortFolder, visible, withoutVersion } from './format.js'
import { useAnswer } from './gateway.js'
import { type Column, Table } from './table.js'
import { Ago, Answer, Copy, Data, Dialog, Facts, Problem, Scroll, ToolName } from './ui.js'

const columns: readonly Column<CallRow>[] = [
  { key: 'time', title: 'When', width: 7, cell: ({ time }) => <Ago time={time} /> },
  { key: 'tool', title: 'Tool', cell: (call) => <ToolName {...call} /> },
  {
    key: 'client',
    title: 'Client',
    width: 10,
    room: 'extra',
    cell: ({ client, principal }) => (
      <span title={visible(`${client} (${principal})`)}>
        <Data text={withoutVersion(client)} />
      </span>
    ),
  },
  {
    key: 'project',
    title: 'Project',
    width: 12,
    room: 'extra',
    cell: ({ project }) => (
      <span class="quiet" title={visible(project)}>
        <Data text={shortFolder(project)} />
      </span>
    ),
  },
  {
    key: 'outcome',
    title: 'Outcome',
    width: 7,
    cell: ({ outcome, reason }) => (
      <span
        class={outcome === 'error' ? 'bad' : outcome === 'refused' ? 'warn' : 'quiet'}
        title={reason && visible(reason)}
      >
        {outcome === 'error' ? 'failed' : outcome}
      </span>
    ),
  },
  {
    key: 'took',
    title: 'Took',
    width: 6,
    isNumber: true,
    room: 'extra',
    cell: ({ milliseconds }) => duration(milliseconds),
  },
  {
    key: 'tokens',
    title: 'Tokens',
    about: 'Tokens of the result',
    width: 6,
    isNumber: true,
    cell: ({ tokensOut }) => count(tokensOut),
  },
]

export function CallTable({ label, calls }: { label: string; calls: readonly CallRow[] }) {
  const [open, setOpen] = useState<CallRow>()
  return (
    <>
      <Table label={label} columns={columns} rows={calls} keyOf={({ id }) => String(id)} onOpen={setOpen} />
      {open && <CallDialog call={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function CallDialog({ call, onClose }: { call: CallRow; onClose: () => void }) {
  const detail = useAnswer<CallDetail>(`calls/${call.id}`)
  const { outcome, reason, project, principal, client } = call
  return (
    <Dialog isPanel title={<ToolName {...call} />} onClose={onClose}>
      {outcome !== 'ok' && (
        <Problem>
          {outcome === 'error' ? 'The call failed.' : 'The gateway did not run the call.'}{' '}
          {reason && <Data text={reason} />}
        </Problem>
      )}
      <Facts
        rows={[
          ['When', <Ago key="time" time={call.time} />],
          ['Took', duration(call.milliseconds)],
          ['Client', <Data key="client" text={principal === client ? client : `${client} (${principal})`} />],
          ['Project', <Data key="project" text={project} />],
          ['Arguments', `${count(call.tokensIn)} tokens, ${bytes(call.bytesIn)}`],
          ['Result', `${count(call.tokensOut)} tokens, ${bytes(call.bytesOut)}`],
        ]}
      />
      <Answer from={detail}>
        {({ content, kept }) => (
          <>
            {kept && (
              <p>
                The client got only the beginning of this result. Read all of it with <code>read_result</code>{' '}
                and handle <code>{visible(kept.handle)}</code>.
              </p>
            )}
            {content ? (
              <>
                <Content title="Arguments" content={content.arguments} />
                <Content title="Result" content={content.result} />
              </>
            ) : (
              <p class="quiet">
                The gateway keeps arguments and results of the latest calls in memory. It no longer has those
                of this call.
              </p>
            )}
          </>
        )}
      </Answer>
    </Dialog>
  )
}

function Content({ title, content: { text, characters } }: { title: string; content: CutText }) {
  return (
    <section>
      <div class="section-head">
        <h3>{title}</h3>
        <Copy text={text} />
      </div>
      <Scroll label={title}>{visible(indentJson(text))}</Scroll>
      {characters > text.length && (
        <p class="quiet">
          Shown: the first {count(text.length)} of {count(characters)} characters.
        </p>
      )}
    </section>
  )
}
