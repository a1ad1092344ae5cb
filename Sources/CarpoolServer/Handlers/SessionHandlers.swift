internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// `session.*`: named configurations.
struct SessionHandlers {
    let sessions: SessionService
    let requests: RequestService
    let callFiles: CallFileService
    let configuration: LiveConfiguration
    /// The file that declares sessions.
    let configurationPath: String
    let loop: EventLoop

    var table: [String: Handler] {
        [
            "session.create": create, "session.get": get, "session.list": list,
            "session.cancel_requests": cancelRequests, "session.set_credential": setCredential,
            "session.invalidate": invalidate,
        ]
    }

    private func create(_ call: Call) throws(RPCError) -> Answer {
        let names = CallFileNames(configuration: call.params["configuration"])
        return try callFiles.withFiles(names, of: call) { files throws(RPCError) in try create(call, files) }
    }

    /// - Parameter saved: the cookies of the session's file; `nil` if they were not read yet.
    private func create(_ call: Call, _ files: CallFiles, saved: [Cookie]? = nil) throws(RPCError) -> Answer {
        guard requests.isServing() else { throw .draining }
        let name = call.params["name"]?.string ?? ""
        guard SessionName.isOne(name) else {
            throw .invalidParams(
                path: "params.name", message: "not a session's name: \(name.prefix(64).debugDescription)",
                expected: SessionName.rule)
        }
        let text = call.params["configuration"]
        let uid = call.client.uid
        let connection = call.params["lifetime"]?.isString("connection") == true ? call.client.number : nil
        let configuration = try requests.decoder(for: call.client, files: files, ofSession: true).configuration(text)
        let isStandard = name == SessionTable.standardName
        let standard = sessions.standard(of: uid)
        let known =
            sessions.table.entry(name, of: uid)
            ?? (isStandard ? SessionTable.Entry(session: standard, configuration: nil, tickets: []) : nil)
        if let known {
            guard known.connection == connection, known.isMade(of: text, configuration) else { throw exists(known) }
            return .result { write(changed: false, known.session, to: &$0) }
        }
        try sessions.checkStore(
            of: configuration, session: name, uid: uid, path: "params.configuration.cache")
        guard configuration.cookies?.isPersistent != true || saved != nil else {
            return try createWithSavedCookies(call, files, configuration, name: name)
        }
        let (tickets, lasting) = try tickets(for: call, files)
        let session = sessions.make(name: name, of: uid, configuration, saved: saved ?? [])
        sessions.prepareCache(of: session)
        session.account = lasting
        let entry = SessionTable.Entry(
            session: session, configuration: text, tickets: tickets, connection: connection)
        sessions.table.insert(entry, of: uid)
        if connection != nil { call.client.resources.add(session) }
        return .result { write(changed: true, session, to: &$0) }
    }

    /// Reads the cookies of a session's file, and creates the session then.
    private func createWithSavedCookies(
        _ call: Call, _ files: CallFiles, _ configuration: SessionConfiguration, name: String
    ) throws(RPCError) -> Answer {
        do throws(WorkerError) {
            try sessions.cookies.load(configuration.cookies, ofSession: name, for: call.client.identity) { read in
                guard call.isWanted else { return }
                do throws(RPCError) {
                    let saved = try read.mapError { refusal in
                        refusal.shortage.map(RPCError.shortage)
                            ?? .invalidParams(
                                path: "params.configuration.cookies.persistent", message: refusal.message,
                                expected: "a cookie file that the daemon can read")
                    }.get()
                    if case .result(let write) = try create(call, files, saved: saved) { call.answer(write) }
                } catch {
                    call.fail(error)
                }
            }
        } catch {
            throw .filesBusy(error)
        }
        return .pending
    }

    /// The caller's quota for one more session and its memory.
    /// - Returns: what is given back when the session is invalidated, and what its requests hold until the last of them
    ///   is forgotten.
    private func tickets(
        for call: Call, _ files: CallFiles
    ) throws(RPCError) -> (ofName: [QuotaLedger.Ticket], lasting: QuotaLedger.Ticket?) {
        let (client, limits) = (call.client.identity, configuration.limits)
        let longBytes = max(0, call.messageBytes &- RequestParameters.uncountedCallBytes)
        let shortBytes = call.messageBytes &- longBytes &+ files.passwordBytes
        let ticket: QuotaLedger.Ticket
        do throws(Quota.Refusal) {
            ticket = try sessions.quota.take(for: client, limits.sessionBounds)
        } catch {
            throw .tooManySessions(error)
        }
        do throws(Quota.Refusal) {
            let short = try sessions.memoryQuota.take(
                SessionHandlers.bareBytes &+ shortBytes &* SessionHandlers.bytesPerByte, for: client,
                limits.sessionByteBounds)
            guard longBytes > 0 else { return ([ticket, short], nil) }
            return (
                [ticket, short],
                try sessions.memoryQuota.take(
                    longBytes &* SessionHandlers.bytesPerByte, for: client, limits.sessionByteBounds)
            )
        } catch {
            throw .tooManySessionBytes(error)
        }
    }

    /// Memory of a session without a configuration.
    private static let bareBytes = 4_096
    /// Memory of a configuration for each byte of its text: the text and what was read from it are kept.
    private static let bytesPerByte = 3

    private func exists(_ entry: SessionTable.Entry) -> RPCError {
        var error = RPCError.sessionExists(entry.session.name)
        if entry.declaration != nil {
            error.hint = "Use it as it is: \(configurationPath) declares it. Or choose another name."
        } else if entry.connection != nil {
            error.hint = "It ends with the connection that has created it. Choose another name."
        }
        return error
    }

    private func write(changed: Bool, _ session: Session, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("changed", changed)
        writer.member("session", session.name)
        writer.member("state", static: "valid")
        writer.endObject()
    }

    private func get(_ call: Call) throws(RPCError) -> Answer {
        let session = try sessions.session(call.params["session"], of: call.client)
        let room = call.client.recordBytes
        return .result { write(session, room: room, to: &$0) }
    }

    private func list(_ call: Call) throws(RPCError) -> Answer {
        let uid = call.client.uid
        _ = sessions.standard(of: uid)
        let after = call.params["next"]?.string ?? ""
        let page = ListPage(call)
        let shown = sessions.table.sessions(of: uid).filter { after.isEmpty || $0.name > after }
        return .result { writer in
            writer.beginObject()
            page.write("sessions", shown, to: &writer, name: \.name) {
                write($0, room: min(page.room, SessionHandlers.listedBytes), to: &$1)
            }
            writer.endObject()
        }
    }

    /// A session as it was made; values of fields that carry secrets are left out, since a session is shared.
    /// - Parameter room: what it may take; members of the configuration that are too long for that are named instead.
    private func write(_ session: Session, room: Int, to writer: inout JSONWriter) {
        let configuration = session.configuration
        let end = writer.count + room - SessionHandlers.shortMemberBytes
        var leftOut: [String] = []
        let entry = sessions.table.entry(session.name, of: session.user ?? self.configuration.access.owner)
        writer.beginObject()
        writer.member("session", session.name)
        writer.member("state", session.isInvalid ? "invalid" : "valid")
        writer.member("declared", entry?.declaration != nil)
        writer.member("lifetime", entry?.connection == nil ? "daemon" : "connection")
        writer.member("active", session.activeCount)
        writer.member("requests", session.requestCount)
        writer.key("configuration")
        writer.beginObject()
        // Fields that cannot fit are not written at all: a page has up to 1,000 sessions, and each may have a megabyte
        // of fields.
        let fieldBytes = configuration.fields.reduce(0) { $0 &+ $1.name.utf8.count &+ $1.value.utf8.count &+ 8 }
        if writer.count &+ fieldBytes > end {
            leftOut.append("headers")
        } else {
            let fields = configuration.shown(configuration.fields)
            write("headers", to: &writer, upTo: end, &leftOut) { write(fields, to: &$0) }
        }
        let text = entry?.declaration?.shown ?? entry?.configuration
        writeGiven(text, of: configuration, to: &writer, upTo: end, &leftOut)
        writer.member("start", configuration.startsRequestsImmediately ? "immediate" : "manual")
        writer.member("ephemeral", configuration.isEphemeral)
        configuration.options.writeScalars(to: &writer)
        writer.endObject()
        if let certificate = configuration.certificate {
            writer.key("client_certificate")
            ClientCertificateWriter.write(certificate.summary, to: &writer)
        }
        if !leftOut.isEmpty { writer.member("left_out", leftOut) }
        writer.endObject()
    }

    /// Writes the members that are written as the client has set them, with their secrets hidden.
    private func writeGiven(
        _ text: JSON?, of configuration: SessionConfiguration, to writer: inout JSONWriter, upTo end: Int,
        _ leftOut: inout [String]
    ) {
        for name in SessionHandlers.givenMembers {
            guard let value = text?[name] else { continue }
            write(name, to: &writer, upTo: end, &leftOut) { SecretRedaction.write(value, to: &$0) }
        }
        if configuration.options.proxy.isGiven {
            write("proxy", to: &writer, upTo: end, &leftOut) {
                ProxyWriter.write(
                    configuration.options.proxy.value, exceptions: text?["proxy"]?["no_proxy"], to: &$0)
            }
        }
    }

    /// Maximum bytes of a session in a list: `session.get` returns the members that are left out there.
    private static let listedBytes = 65_536

    /// Room for the members that are short.
    private static let shortMemberBytes = 2_048

    /// Writes a member, or notes its name if it goes beyond the end.
    private func write(
        _ name: StaticString, to writer: inout JSONWriter, upTo end: Int, _ leftOut: inout [String],
        _ body: (inout JSONWriter) -> Void
    ) {
        let before = writer.count
        writer.key(name)
        body(&writer)
        guard writer.count > end else { return }
        writer.rewind(to: before)
        leftOut.append(name.description)
    }

    private func write(_ fields: [HTTPField], to writer: inout JSONWriter) {
        writer.beginArray()
        for field in fields {
            writer.beginArray()
            writer.string(field.name)
            writer.string(Redaction.shown(field.value, of: field.name))
            writer.endArray()
        }
        writer.endArray()
    }

    /// Members that are written as the client has set them, with their secrets hidden.
    private static let givenMembers: [StaticString] = [
        "languages", "cookies", "cache", "trust", "tls", "addresses", "redirect", "interceptor", "validate",
    ]

    private func cancelRequests(_ call: Call) throws(RPCError) -> Answer {
        let session = try sessions.session(call.params["session"], of: call.client)
        var count = 0
        let work = Slices.forEach(of: session.activeRequests) { request in
            if request.cancel() { count += 1 }
        } completion: {
            call.answer { writer in
                writer.beginObject()
                writer.member("cancelled", count)
                writer.endObject()
            }
        }
        // A few end at once; the rest in slices, even if the caller disconnects.
        if work.runSlice() { loop.runInSlices(work) }
        return .pending
    }

    private func setCredential(_ call: Call) throws(RPCError) -> Answer {
        let session = try sessions.session(call.params["session"], of: call.client)
        guard let authentication = session.configuration.authentication else {
            throw RPCError(.wrongState, "session \(session.name) has no oauth2 interceptor whose credential can be set")
                .with("state", "valid")
                .with("expected", "a session with an oauth2 interceptor of the grant refresh_token or with a callback")
                .with("session", session.name)
        }
        let credential = try call.params["credential"].flatMap { json throws(RPCError) in
            try InterceptorReader.credential(json, path: "params.credential")
        }
        authentication.setCredential(credential)
        return .result { StateChange.write(true, state: credential == nil ? "absent" : "present", to: &$0) }
    }

    private func invalidate(_ call: Call) throws(RPCError) -> Answer {
        let name = call.params["session"]?.string ?? ""
        if sessions.table.entry(name, of: call.client.uid)?.declaration != nil {
            throw .declaredSession(name, file: configurationPath)
        }
        guard name != SessionTable.standardName else { throw .defaultSession }
        let session = try sessions.session(call.params["session"], of: call.client)
        sessions.end(
            session, of: call.client.uid, cancelling: call.params["mode"]?.string == "cancel",
            forgetting: call.params["forget"]?.bool ?? false)
        return .result { StateChange.write(true, state: "invalid", to: &$0) }
    }
}
