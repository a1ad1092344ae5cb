internal import CarpoolHTTP
internal import CarpoolJSON
public import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// `daemon.*`: the daemon about itself.
struct DaemonHandlers {
    unowned let server: Server

    var table: [String: Handler] {
        [
            "daemon.ping": ping, "daemon.info": info, "daemon.stats": stats, "daemon.config": config,
            "daemon.config_reload": reload,
            "daemon.log_level": logLevel, "daemon.drain": drain, "daemon.shutdown": shutdown,
        ]
    }

    private func ping(_ call: Call) throws(RPCError) -> Answer {
        .result { writer in
            writer.beginObject()
            writer.member("pong", true)
            writer.member("time", time: WallClock.microseconds())
            writer.endObject()
        }
    }

    private func info(_ call: Call) throws(RPCError) -> Answer {
        .result { writer in
            writer.beginObject()
            writer.key("server")
            server.writeIdentity(to: &writer)
            writer.member("state", server.lifecycle.state.rawValue)
            writer.member("started", time: server.started)
            writer.member("uid", server.access.owner)
            writer.member("socket", server.options.socketPath)
            writer.member("configuration", server.options.configurationPath)
            writer.member("spool", server.spool.directory)
            writer.member("on_demand", server.options.isStartedOnDemand)
            writer.key("libcurl")
            writer.beginObject()
            writer.member("version", CurlLibrary.version)
            writer.member("profile", CurlLibrary.profile.rawValue)
            writer.member("http2", server.configuration.allowsHTTP2 && CurlLibrary.profile == .multiplex)
            writer.endObject()
            writer.endObject()
        }
    }

    private func stats(_ call: Call) throws(RPCError) -> Answer {
        let resets = call.params["reset"]?.bool ?? false
        guard !resets || call.client.role == .admin else {
            throw .forbidden(method: "daemon.stats with reset", role: Role.admin.rawValue)
        }
        return .result { writer in
            writer.beginObject()
            writer.member("uptime_ms", (WallClock.microseconds() - server.started) / 1_000)
            writer.key("connections")
            writer.beginObject()
            writer.member("open", server.connections.count)
            writer.member("accepted", server.statistics.connections)
            writer.member("refused", server.statistics.refusedConnections)
            writer.endObject()
            writer.key("requests")
            writer.beginObject()
            writer.member("active", server.requests.active)
            writer.member("tasks", server.sessions.all.reduce(0) { $0 + $1.session.taskCount })
            writer.member("known", server.requests.count)
            writer.member("made", server.statistics.requests)
            writer.member("failed", server.statistics.failedRequests)
            writer.endObject()
            writePool(to: &writer)
            writeRest(to: &writer)
            writer.endObject()
            if resets { server.loop.resetGauge() }
        }
    }

    private func writePool(to writer: inout JSONWriter) {
        let (pool, load) = (server.transport.statistics, server.transport.load(of: .all))
        writer.key("transfers")
        writer.beginObject()
        writer.member("active", load.active)
        writer.member("queued", load.queued)
        writer.member("finished", pool.finishedTransfers)
        writer.member("reused", pool.reusedTransfers)
        writer.endObject()
    }

    private func writeRest(to writer: inout JSONWriter) {
        writer.key("spool")
        writer.beginObject()
        writer.member("bodies", server.spool.count)
        writer.member("size_bytes", server.spool.totalBytes)
        writer.endObject()
        writer.key("events")
        writer.beginObject()
        writer.member("subscriptions", server.publisher.subscriptionCount)
        writer.member("waiting", server.publisher.pollCount)
        writer.member("built", server.publisher.built)
        writer.member("dropped", server.publisher.dropped)
        writer.member("journal_events", server.publisher.journal.count)
        writer.member("journal_bytes", server.publisher.journal.size)
        writer.endObject()
        writer.key("reachability")
        server.reachability.writeStatistics(to: &writer)
        writer.key("loop")
        write(server.loop.gauge, to: &writer)
        writer.key("log")
        writer.beginObject()
        writer.member("dropped_lines", server.log.dropped)
        writer.endObject()
        writer.key("worker")
        server.worker.statistics.write(to: &writer)
        let callbacks = server.callbacks.statistics
        writer.key("callbacks")
        writer.beginObject()
        writer.member("waiting", server.callbacks.count)
        writer.member("asked", callbacks.asked)
        writer.member("answered", callbacks.answered)
        writer.member("failed", callbacks.failed)
        writer.member("ignored", callbacks.ignored)
        writer.endObject()
        writer.member("sessions", server.sessions.count)
    }

    private func write(_ gauge: TurnGauge, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("turns", server.loop.turns)
        writer.member("measured_turns", gauge.count)
        writer.member("longest_turn_us", gauge.longest)
        writer.member("p50_turn_us", gauge.percentile(perMille: 500))
        writer.member("p99_turn_us", gauge.percentile(perMille: 990))
        writer.member("p999_turn_us", gauge.percentile(perMille: 999))
        writer.member("waited_us", gauge.waited)
        writer.key("histogram")
        writer.beginArray()
        for octave in gauge.octaves {
            writer.beginArray()
            writer.integer(octave.upTo)
            writer.integer(octave.count)
            writer.endArray()
        }
        writer.endArray()
        writer.endObject()
    }

    /// Which other users are listed is for administrators.
    private func config(_ call: Call) throws(RPCError) -> Answer {
        let (uid, isAdmin) = (call.client.uid, call.client.role == .admin)
        return .result { writer in
            let configuration = server.configuration
            writer.beginObject()
            writer.member("file", server.options.configurationPath)
            writer.member("log_level", server.log.level.rawValue)
            writer.member("idle_exit_ms", configuration.idleExitMilliseconds)
            writer.member("drain_ms", configuration.drainMilliseconds)
            writer.member("http2", configuration.allowsHTTP2)
            writer.key("access")
            writer.beginObject()
            writer.key("uids")
            writer.beginObject()
            for (listed, role) in server.access.roles.sorted(by: { $0.key < $1.key }) where isAdmin || listed == uid {
                writer.key(String(listed))
                writer.string(role.rawValue)
            }
            writer.endObject()
            writer.member("sandboxed_network", configuration.allowsSandboxedNetwork)
            writer.endObject()
            writer.key("reachability")
            configuration.reachability.write(to: &writer)
            writer.key("limits")
            configuration.limits.write(to: &writer)
            writer.endObject()
        }
    }

    private func reload(_ call: Call) throws(RPCError) -> Answer {
        server.reload { result in
            switch result {
            case .failure(let error): call.fail(.configurationRefused(error.description))
            case .success(let reload):
                call.answer { writer in
                    writer.beginObject()
                    reload.writeMembers(to: &writer)
                    writer.endObject()
                }
            }
        }
        return .pending
    }

    private func logLevel(_ call: Call) throws(RPCError) -> Answer {
        let old = server.log.level
        if let level = call.params["level"]?.string.flatMap(Log.Level.init(rawValue:)) { server.log.level = level }
        let new = server.log.level
        return .result { StateChange.write(new != old, state: new.rawValue, to: &$0) }
    }

    private func drain(_ call: Call) throws(RPCError) -> Answer {
        let changed = server.lifecycle.isServing
        server.drain(milliseconds: call.params["deadline_ms"]?.int)
        return .result { StateChange.write(changed, state: server.lifecycle.state.rawValue, to: &$0) }
    }

    private func shutdown(_ call: Call) throws(RPCError) -> Answer {
        let changed = server.lifecycle.isServing || server.lifecycle.state == .draining
        server.stop()
        return .result { StateChange.write(changed, state: server.lifecycle.state.rawValue, to: &$0) }
    }
}

extension Server {
    /// Who this daemon is.
    func writeIdentity(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", static: "carpoold")
        writer.member("version", ServerVersion.text)
        writer.member("pid", getpid())
        writer.member("epoch", epoch)
        writer.endObject()
    }
}

extension Limits {
    /// All of them, by name.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for field in Limits.fields { writer.member(field.name, self[keyPath: field.path]) }
        writer.endObject()
    }
}

extension WorkerStatistics {
    /// All of them, by name.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("threads", threads)
        writer.member("running", running)
        writer.member("stalled", stalled)
        writer.member("waiting", waiting)
        writer.member("most_waiting", mostWaiting)
        writer.member("jobs", jobs)
        writer.member("refused", refused)
        writer.member("longest_us", longestMicroseconds)
        writer.endObject()
    }
}

/// The version of the daemon and of what it says of itself.
public enum ServerVersion {
    /// As in `carpoold --version`.
    public static let text = Release.version
    /// The libcurl that it runs with, and the profile that follows from it.
    public static var library: String { "libcurl \(CurlLibrary.version), profile \(CurlLibrary.profile.rawValue)" }

    /// The OpenRPC document that `rpc.discover` answers with, on one line.
    public static func openRPC(of catalogue: Catalogue = .carpool) -> String {
        var writer = JSONWriter()
        catalogue.openRPC(version: text, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
