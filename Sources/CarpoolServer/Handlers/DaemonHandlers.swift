internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// `daemon.*`: the state of the daemon, and its control.
struct DaemonHandlers {
    let services: Services

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
            services.identity.write(to: &writer)
            writer.member("state", services.control.stateName)
            writer.member("started", time: services.identity.started)
            writer.member("uid", services.configuration.access.owner)
            writer.member("socket", services.options.socketPath)
            writer.member("configuration", services.options.configurationPath)
            writer.member("spool", services.spool.folder.path)
            writer.member("responses", services.options.responsesDirectory)
            writer.member("on_demand", services.options.isStartedOnDemand)
            writer.key("libcurl")
            writer.beginObject()
            writer.member("version", CurlLibrary.version)
            writer.member("profile", CurlLibrary.profile.rawValue)
            writer.member("http2", services.configuration.current.allowsHTTP2 && CurlLibrary.profile == .multiplex)
            writer.member("libraries", CurlLibrary.libraries)
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
            writer.member("uptime_ms", (WallClock.microseconds() - services.identity.started) / 1_000)
            writer.key("connections")
            writer.beginObject()
            writer.member("open", services.connections.count)
            writer.member("accepted", services.connections.accepted)
            writer.member("refused", services.connections.refused)
            writer.endObject()
            writer.key("requests")
            writer.beginObject()
            writer.member("active", services.requests.registry.active)
            writer.member("tasks", services.sessions.table.all.reduce(0) { $0 + $1.session.taskCount })
            writer.member("known", services.requests.registry.count)
            writer.member("made", services.requests.made)
            writer.member("failed", services.requests.failed)
            writer.endObject()
            writePool(to: &writer)
            writeRest(to: &writer)
            writer.endObject()
            if resets { services.loop.resetGauge() }
        }
    }

    private func writePool(to writer: inout JSONWriter) {
        let (pool, load) = (services.transport.statistics, services.transport.load(of: .all))
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
        writer.member("bodies", services.spool.count)
        writer.member("size_bytes", services.spool.totalBytes)
        writer.endObject()
        writer.key("events")
        writer.beginObject()
        writer.member("subscriptions", services.publisher.subscriptionCount)
        writer.member("waiting", services.publisher.pollCount)
        writer.member("built", services.publisher.built)
        writer.member("dropped", services.publisher.dropped)
        writer.member("journal_events", services.publisher.journal.count)
        writer.member("journal_bytes", services.publisher.journal.size)
        writer.endObject()
        writer.key("reachability")
        services.reachability.writeStatistics(to: &writer)
        writer.key("loop")
        write(services.loop.gauge, to: &writer)
        writer.key("log")
        writer.beginObject()
        writer.member("dropped_lines", services.log.dropped)
        writer.endObject()
        writer.key("worker")
        services.worker.statistics.write(to: &writer)
        let callbacks = services.callbacks.statistics
        writer.key("callbacks")
        writer.beginObject()
        writer.member("waiting", services.callbacks.count)
        writer.member("asked", callbacks.asked)
        writer.member("answered", callbacks.answered)
        writer.member("failed", callbacks.failed)
        writer.member("ignored", callbacks.ignored)
        writer.endObject()
        writer.member("sessions", services.sessions.table.count)
    }

    private func write(_ gauge: TurnGauge, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("turns", services.loop.turns)
        writer.member("measured_turns", gauge.count)
        writer.member("longest_turn_us", gauge.longest)
        writer.member("p50_turn_us", gauge.percentile(perMille: 500))
        writer.member("p99_turn_us", gauge.percentile(perMille: 990))
        writer.member("p999_turn_us", gauge.percentile(perMille: 999))
        writer.member("waited_us", gauge.waited)
        writer.member("slept_us", gauge.slept)
        writer.member("longest_sleep_us", gauge.longestSleep)
        writer.key("histogram")
        writer.beginArray()
        for octave in gauge.octaves {
            writer.beginArray()
            writer.integer(octave.upTo)
            writer.integer(octave.count)
            writer.endArray()
        }
        writer.endArray()
        writer.key("long_turns")
        writer.beginArray()
        for turn in gauge.longTurns {
            writer.beginObject()
            writer.member("end_us", Int(clamping: turn.end.nanoseconds / 1_000))
            writer.member("wall_us", turn.wall)
            writer.member("waited_us", turn.waited)
            writer.member("slept_us", turn.slept)
            writer.member("processor", turn.processor)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    /// Which other users are listed is for administrators.
    private func config(_ call: Call) throws(RPCError) -> Answer {
        let (uid, isAdmin) = (call.client.uid, call.client.role == .admin)
        return .result { writer in
            let configuration = services.configuration.current
            writer.beginObject()
            writer.member("file", services.options.configurationPath)
            writer.member("log_level", services.log.level.rawValue)
            writer.member("idle_exit_ms", configuration.idleExitMilliseconds)
            writer.member("drain_ms", configuration.drainMilliseconds)
            writer.member("http2", configuration.allowsHTTP2)
            writer.member("cache", configuration.turnsCacheOff ? "no_store" : "use_protocol")
            writer.key("access")
            writer.beginObject()
            writer.key("uids")
            writer.beginObject()
            for (listed, role) in services.configuration.access.roles.sorted(by: { $0.key < $1.key })
            where isAdmin || listed == uid {
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
        services.control.reload { result in
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
        let old = services.log.level
        if let level = call.params["level"]?.string.flatMap(Log.Level.init(rawValue:)) { services.log.level = level }
        let new = services.log.level
        return .result { StateChange.write(new != old, state: new.rawValue, to: &$0) }
    }

    private func drain(_ call: Call) throws(RPCError) -> Answer {
        let changed = services.control.isServing
        services.control.drain(milliseconds: call.params["deadline_ms"]?.int)
        return .result { StateChange.write(changed, state: services.control.stateName, to: &$0) }
    }

    private func shutdown(_ call: Call) throws(RPCError) -> Answer {
        let changed = services.control.isServing || services.control.isDraining
        services.control.stop()
        return .result { StateChange.write(changed, state: services.control.stateName, to: &$0) }
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
