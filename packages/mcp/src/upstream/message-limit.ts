/** One message of a server may be this long: ten thousand tools fit. */
export const MOST_BYTES = 64 * 1024 * 1024
export const TOO_LONG = `the server sent a message of more than ${MOST_BYTES / 1024 / 1024} MB`
