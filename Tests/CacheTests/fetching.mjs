// A fetch by the daemon: request.perform in a session, with as much of a Response as the suite reads.

const POLICIES = {
  default: 'use_protocol',
  'no-store': 'no_store',
  reload: 'reload_ignoring_cache',
  'no-cache': 'reload_revalidating',
  'force-cache': 'return_cache_else_load',
  'only-if-cached': 'return_cache_dont_load'
}

/** Return a function with the arguments of fetch, whose requests are made in `session`. */
export function fetchingBy (wire, session, hasCache) {
  return async function fetch (url, init = {}) {
    const params = { url: String(url), session, method: init.method ?? 'GET', response_body: 'inline' }
    // Not a Headers object, which would join fields and change their case.
    params.headers = (init.headers ?? []).map(([name, value]) => [name, String(value)])
    if (init.body !== undefined) params.body = { text: String(init.body) }
    if (init.redirect === 'manual') params.redirect = 'do_not_follow'
    if (init.cache !== undefined && hasCache) params.cache = POLICIES[init.cache]
    const record = await perform(wire, params, init.signal)
    return isOriginGone(record) ? badGateway(params.url) : responseOf(record)
  }
}

async function perform (wire, params, signal) {
  const call = wire.begin('request.perform', params)
  if (signal === undefined) return call.result
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => {
      wire.call('rpc.cancel', { id: call.id }).catch(() => {})
      reject(new DOMException('The request has taken too long.', 'AbortError'))
    })
    call.result.then(resolve, reject)
  })
}

// A cache between the suite and the origin would say that the origin is gone with a response of its own (RFC 9111,
// section 5.2.2.2), which is what the suite expects; a client says it with an error.
function isOriginGone (record) {
  return record.outcome.error?.name === 'session_task_failed.network_connection_lost'
}

function badGateway (url) {
  return { status: 502, statusText: '', ok: false, url, headers: new Headers(), carpool: undefined, text: async () => '' }
}

// `Response` refuses a status above 599 and a 304 with a body, both of which the suite needs.
function responseOf (record) {
  if (!record.outcome.ok || record.response == null) {
    throw new TypeError(`fetch failed: ${JSON.stringify(record.outcome.error ?? {})}`)
  }
  const headers = new Headers()
  for (const [name, value] of record.response.headers) headers.append(textOf(name), textOf(value))
  const status = record.response.status
  const body = bodyOf(record.body ?? {})
  return {
    status,
    statusText: '',
    ok: status >= 200 && status <= 299,
    url: record.response.url,
    headers,
    carpool: record.cache,
    text: async () => body
  }
}

// The fields of a Headers object are bytes, one a character.
function textOf (value) {
  return typeof value === 'string' ? Buffer.from(value).toString('latin1') : Buffer.from(value.base64, 'base64').toString('latin1')
}

function bodyOf (body) {
  if (body.text !== undefined) return body.text
  return body.base64 === undefined ? '' : Buffer.from(body.base64, 'base64').toString('utf8')
}
