// The programs of a run: the suite's server and the daemon. Both end with the run.

import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const PATIENCE_MS = 20_000

/** Start the server of the suite in `suite` and return it with its URL. */
export async function startServer (suite, scratch) {
  const log = openSync(join(scratch, 'server.log'), 'a')
  const server = fork(join(suite, 'test-engine/server/server.mjs'), {
    cwd: suite,
    env: {
      PATH: process.env.PATH,
      npm_config_protocol: 'http',
      npm_config_port: '0',
      npm_config_pidfile: join(scratch, 'server.pid')
    },
    execArgv: ['--import', new URL('./loopback.mjs', import.meta.url).href],
    stdio: ['ignore', log, log, 'ipc']
  })
  const [{ port }] = await once(server, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) })
  return { process: server, url: `http://127.0.0.1:${port}` }
}

/** Start a daemon whose directories are in `scratch` and return it with the path of its socket. */
export async function startDaemon (program, scratch) {
  const variables = Object.entries(process.env).filter(([name]) => !/^(XDG_|CARPOOL|LISTEN_)/.test(name))
  const environment = Object.fromEntries(variables)
  for (const kind of ['CONFIG', 'STATE', 'CACHE', 'DATA']) {
    environment[`XDG_${kind}_HOME`] = join(scratch, kind.toLowerCase())
  }
  environment.XDG_RUNTIME_DIR = join(scratch, 'runtime')
  mkdirSync(environment.XDG_RUNTIME_DIR, { mode: 0o700 })
  const socket = join(scratch, 's')
  const logFile = join(scratch, 'carpoold.log')
  const log = openSync(logFile, 'a')
  const daemon = spawn(program, ['--socket', socket], { env: environment, stdio: ['ignore', log, log] })
  daemon.on('error', error => console.error(`${program}: ${error.message}`))
  for (const deadline = Date.now() + PATIENCE_MS; !await isOpen(socket); await sleep(10)) {
    if (daemon.exitCode !== null || daemon.pid === undefined || Date.now() > deadline) {
      await end(daemon)
      throw new Error(`carpoold has not started: ${readFileSync(logFile, 'utf8')}`)
    }
  }
  return { process: daemon, socket }
}

function isOpen (path) {
  return new Promise(resolve => {
    const probe = net.connect(path)
    probe.on('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.on('error', () => resolve(false))
  })
}

/** End a program, in order if it does so in time. */
export async function end (program) {
  if (program.pid === undefined || program.exitCode !== null || program.signalCode !== null) return
  const ended = once(program, 'exit')
  program.kill('SIGTERM')
  const timer = setTimeout(() => program.kill('SIGKILL'), PATIENCE_MS)
  await ended
  clearTimeout(timer)
}
