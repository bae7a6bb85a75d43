/** The workshop's only source of time. It stands still, so that two runs of a demo leave the same bytes. */
export const clock = {
  now: (): string => '2026-03-02T09:00:00Z',
  today: (): string => '2026-03-02',
}
