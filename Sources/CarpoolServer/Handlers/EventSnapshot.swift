internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolReachability
internal import CarpoolSession

/// The current state, for a subscriber that has missed events.
struct EventSnapshot {
    /// What it is made from.
    struct Sources {
        let requests: RequestService
        let sessions: SessionService
        let reachability: ReachabilityService
        let transport: CurlTransport
        let configuration: LiveConfiguration
    }

    let sources: Sources
    let scope: EventFilter.Scope
    /// The subscriber's user.
    let uid: UInt32
    /// Bytes that it may take.
    let room: Int

    /// Maximum sessions in a snapshot: `session.list` has all.
    private static let sessionCount = 64
    /// Requests that are checked: finished ones lie between active ones.
    private static let looks = 16_384
    /// Room for everything but requests.
    private static let surroundingBytes = 24_576
    /// The part of that which is for the machine's interfaces.
    private static let interfaceBytes = 8_192

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeRequests(to: &writer)
        writeSessions(to: &writer)
        writePool(to: &writer)
        writer.key("reachability")
        ReachabilityWriter(sources.reachability, interfaceBytes: EventSnapshot.interfaceBytes)
            .write(sources.reachability.manager.reading, to: &writer)
        writer.endObject()
    }

    /// The requests that are not over, oldest first, as many as fit.
    private func writeRequests(to writer: inout JSONWriter) {
        var client: ClientIdentity?
        if case .mine(let identity) = scope { client = identity }
        let page = sources.requests.registry.page(of: client, after: 0, limit: .max, looks: EventSnapshot.looks) {
            entry in
            entry.finished == nil && includes(entry)
        }
        writer.key("requests")
        writer.beginArray()
        let start = writer.count
        var isWhole = page.next == nil
        for entry in page.entries {
            let before = writer.count
            write(entry, to: &writer)
            guard writer.count - start <= room - EventSnapshot.surroundingBytes else {
                writer.rewind(to: before)
                isWhole = false
                break
            }
        }
        writer.endArray()
        if !isWhole { writer.member("truncated", true) }
    }

    private func includes(_ entry: RequestEntry) -> Bool {
        switch scope {
        case .everyone: true
        case .user(let uid): entry.client.uid == uid
        case .mine(let identity): entry.client == identity
        case .session(let name, let uid): entry.client.uid == uid && entry.request.session.name == name
        case .request(let subject): entry.request.context === subject
        }
    }

    private func write(_ entry: RequestEntry, to writer: inout JSONWriter) {
        let request = entry.request
        writer.beginObject()
        writer.member("request", request.id)
        writer.member("state", request.state.rawValue)
        writer.member("session", request.session.name)
        writer.member("client", "c-\(entry.connection)")
        writer.member("attempt", max(1, request.attempts.count))
        writer.member("retry_count", request.retryCount)
        writer.endObject()
    }

    private func writeSessions(to writer: inout JSONWriter) {
        let sessions = sources.sessions.table.sessions(of: uid).filter { session in
            if case .session(let name, _) = scope { return session.name == name }
            return true
        }
        writer.key("sessions")
        writer.beginArray()
        for session in sessions.prefix(EventSnapshot.sessionCount) {
            writer.beginObject()
            writer.member("session", session.name)
            writer.member("active", session.activeCount)
            writer.endObject()
        }
        writer.endArray()
    }

    /// The connections of the subscriber's user; those of all users for one who follows all.
    private func writePool(to writer: inout JSONWriter) {
        let isForAll = if case .everyone = scope { true } else { false }
        let load = sources.transport.load(of: isForAll ? .all : sources.configuration.access.poolUsers(uid))
        writer.key("pool")
        writer.beginObject()
        load.writeMembers(to: &writer)
        writer.endObject()
    }
}
