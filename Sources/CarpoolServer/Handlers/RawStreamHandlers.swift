internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// `stream.*`: bytes over TCP or TLS, without HTTP.
struct RawStreamHandlers {
    let requests: RequestService
    let sessions: SessionService
    let streams: StreamService
    let callFiles: CallFileService
    let configuration: LiveConfiguration

    var table: [String: Handler] {
        [
            "stream.open": open, "stream.write": write, "stream.read": read, "stream.close_write": closeWrite,
            "stream.close": close,
        ]
    }

    private func open(_ call: Call) throws(RPCError) -> Answer {
        try callFiles.withFiles(of: call, within: { () throws(RPCError) in try limit(of: call) }) {
            files throws(RPCError) in try open(call, files)
        }
    }

    private func open(_ call: Call, _ files: CallFiles) throws(RPCError) -> Answer {
        guard requests.isServing() else { throw .draining }
        let client = call.client
        try configuration.checkNetwork(of: client)
        let session = try session(call)
        let options = try options(call, files, session)
        guard client.resources.rawStreams.count < configuration.limits.rawStreamsPerConnection else {
            throw .tooManyInFlight("raw streams", limit: configuration.limits.rawStreamsPerConnection)
        }
        let (host, port) = (call.params["host"]?.string ?? "", call.params["port"]?.int ?? 0)
        let isTLS = call.params["tls"]?.bool ?? true
        let url = try RawStreamHandlers.url(host, port, isTLS: isTLS)
        let name = "raw_\(streams.nextNumber())"
        let entry = RawStreamEntry(name: name, loop: requests.loop) { writer in
            writer.beginObject()
            writer.member("stream", name)
            writer.member("host", host)
            writer.member("port", port)
            writer.member("tls", isTLS)
            writer.endObject()
        } onFailure: { [weak client] entry in
            entry.close()
            client?.resources.rawStreams[entry.name] = nil
        }
        let settings = try RawStreamHandlers.settings(options, for: url.origin)
        // The time has begun with the call.
        let waited = call.waitedSince.map { requests.loop.now.microseconds(since: $0) / 1_000 } ?? 0
        let timeout = max(1, RawStreamHandlers.timeout(of: call, session) - waited)
        // A notification could never name what it has opened.
        guard call.id != nil else { return .pending }
        entry.ticket = try ticket(for: client)
        guard
            let stream = streams.rawStreamPool.open(
                url, settings: settings, timeoutMilliseconds: timeout, delegate: entry)
        else { throw .tooManyInFlight("raw streams", limit: streams.rawStreamPool.count) }
        client.resources.rawStreams[name] = entry
        entry.connect(stream, for: call)
        return .pending
    }

    /// The longest time to open a stream, in milliseconds.
    private static func timeout(of call: Call, _ session: SessionConfiguration) -> Int {
        call.params["timeout_ms"]?.int ?? session.connectTimeoutMilliseconds
    }

    private func limit(of call: Call) throws(RPCError) -> CallFileService.Limit {
        .init(milliseconds: RawStreamHandlers.timeout(of: call, try session(call)), parameter: "timeout_ms")
    }

    /// The configuration of the call's session.
    private func session(_ call: Call) throws(RPCError) -> SessionConfiguration {
        let session = try sessions.session(call.params["session"], of: call.client).configuration
        guard session.addresses?.socket == nil else {
            throw .invalidParams(
                path: "params.session", message: "connections of the session are made to a Unix socket",
                expected: "a session without addresses.unix_socket")
        }
        return session
    }

    /// The settings of connections of the session, and the trust of the call in place of the session's.
    private func options(
        _ call: Call, _ files: CallFiles, _ session: SessionConfiguration
    ) throws(RPCError) -> TransferOptions {
        var options = session.options
        guard let own = call.params["trust"] else { return options }
        let (trust, manager) = try requests.decoder(for: call.client, files: files).trust(own, path: "params.trust")
        options.trust.set(trust)
        options.serverTrustManager.set(.some(manager))
        return options
    }

    private static func settings(
        _ options: TransferOptions, for origin: Origin
    ) throws(RPCError) -> ConnectionSettings? {
        let settings = options.connectionSettings(for: origin)
        guard settings?.values.proxy?.kind != .https else {
            throw .invalidParams(
                path: "params.session", message: "the session has an HTTPS proxy",
                expected: "a session with an HTTP or a SOCKS proxy, or with the host in proxy.no_proxy")
        }
        return settings
    }

    private func ticket(for client: any Client) throws(RPCError) -> QuotaLedger.Ticket {
        do throws(Quota.Refusal) {
            return try streams.rawStreamQuota.take(for: client.identity, configuration.limits.rawStreamBounds)
        } catch {
            throw .tooManyRawStreams(error)
        }
    }

    /// As a URL, so that hosts are read by the one parser that reads them for requests.
    private static func url(_ host: String, _ port: Int, isTLS: Bool) throws(RPCError) -> HTTPURL {
        let isBare = host.contains(":") && !host.hasPrefix("[")
        let authority = isBare ? "[\(host)]" : host
        let isMore = host.contains { "/?#@\\".contains($0) } || host.contains(":") && !isBare && !host.hasSuffix("]")
        let url = isMore || host.isEmpty ? nil : try? HTTPURL("\(isTLS ? "https" : "http")://\(authority):\(port)/")
        guard let url else {
            throw .invalidParams(
                path: "params.host", message: "not a host: \(host.prefix(64).debugDescription)",
                expected: "a name or an address")
        }
        return url
    }

    private func entry(_ call: Call) throws(RPCError) -> RawStreamEntry {
        let name = call.params["stream"]?.string ?? ""
        guard let entry = call.client.resources.rawStreams[name] else { throw .streamNotFound(name) }
        return entry
    }

    private func write(_ call: Call) throws(RPCError) -> Answer {
        try entry(call).write(try BodyHandlers.piece(in: call.params), call)
        return .pending
    }

    private func read(_ call: Call) throws(RPCError) -> Answer {
        let entry = try entry(call)
        // A notification has no answer, so the bytes would be lost.
        guard call.id != nil else { return .pending }
        let most = max(1, call.client.inlineBodyBytes / 4 * 3)
        let limit = configuration.limits.longPollMilliseconds
        try entry.read(
            atMost: min(call.params["max_bytes"]?.int ?? 32_768, most),
            milliseconds: min(call.params["timeout_ms"]?.int ?? limit, limit), call)
        return .pending
    }

    private func closeWrite(_ call: Call) throws(RPCError) -> Answer {
        let changed = try entry(call).closeWrite()
        return .result { StateChange.write(changed, state: "half_closed", to: &$0) }
    }

    private func close(_ call: Call) throws(RPCError) -> Answer {
        let entry = call.client.resources.rawStreams.removeValue(forKey: call.params["stream"]?.string ?? "")
        entry?.close()
        return .result { StateChange.write(entry != nil, state: "closed", to: &$0) }
    }
}
