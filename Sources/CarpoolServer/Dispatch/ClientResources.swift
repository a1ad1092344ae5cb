internal import CarpoolRPC
internal import CarpoolSession

/// Everything that the daemon holds for one connection. It is made with the connection, and released in slices when the
/// connection closes.
final class ClientResources {
    /// Whether the connection is open.
    private(set) var isOpen = true
    /// Calls without an answer yet. Each keeps the connection alive.
    var calls: [RPCID: Call] = [:]
    /// Calls that wait for others.
    let sequence = CallSequence()
    /// Descriptors that came with the line that is handled.
    var descriptors = ReceivedDescriptors()
    /// Requests that end with the connection, by their place in the order.
    var dependents: [Int: RequestEntry] = [:]
    /// The places of those that are left when the connection closes.
    private var ending: [Int] = []
    /// Subscriptions, by name.
    var subscriptions: [String: Subscription] = [:]
    /// Watches of the network, by name.
    var watches: [String: ReachabilityWatch] = [:]
    /// Readers of streams that send on the connection, by name.
    var feeds: [String: StreamFeed] = [:]
    /// Sessions that end with the connection, by name.
    private var sessions: [String: Session] = [:]
    /// Raw streams, by name.
    var rawStreams: [String: RawStreamEntry] = [:]

    /// Whether nothing keeps the connection of a client that has closed its side.
    var isIdle: Bool { calls.isEmpty && subscriptions.isEmpty && watches.isEmpty && feeds.isEmpty }

    /// Adds a session that ends with the connection, and forgets those that were invalidated.
    func add(_ session: Session) {
        sessions = sessions.filter { !$0.value.isInvalid }
        sessions[session.name] = session
    }

    /// Notes that the connection is closed.
    func close() { isOpen = false }

    /// Ends resources that other services know too.
    struct Release {
        let endRequest: (RequestEntry) -> Void
        let removeSubscription: (Subscription) -> Void
        let endWatch: (ReachabilityWatch) -> Void
        let endSession: (Session) -> Void
    }

    /// Releases the resources, until all are released or the slice is over. Returns whether there are more.
    func releaseSlice(_ release: Release, until isOver: () -> Bool) -> Bool {
        // Nothing follows a call whose client is gone.
        sequence.removeAll()
        // Requests first: a request that ends with its call must not be kept as if a client would still ask for it. The
        // latest is the first: those that wait for a connection end before those whose connection they would get.
        while !dependents.isEmpty {
            if ending.isEmpty { ending = dependents.keys.sorted() }
            guard let last = ending.popLast(), let entry = dependents.removeValue(forKey: last) else { continue }
            release.endRequest(entry)
            if isOver() { return true }
        }
        while let (_, call) = calls.popFirst() {
            call.abandon()
            if isOver() { return true }
        }
        while let (_, session) = sessions.popFirst() {
            release.endSession(session)
            if isOver() { return true }
        }
        while let (_, subscription) = subscriptions.popFirst() { release.removeSubscription(subscription) }
        for watch in watches.values { release.endWatch(watch) }
        watches = [:]
        feeds = [:]
        rawStreams = [:]
        return false
    }
}
