package import CarpoolJSON
package import CarpoolSystem

/// The events of one subscription. It subscribes again after a restart of the daemon.
package final class EventFeed {
    /// The next item.
    package enum Item {
        /// The subscription was made, for the first time or again: the answer of the call.
        case subscribed(JSON)
        /// An event.
        case event(JSON)
        /// The connection was lost. The feed waits for a daemon and starts none: it may have been stopped on purpose.
        case lost
        /// The deadline was reached, or one of the other descriptors is ready.
        case nothing
    }

    /// The cursor with which the next subscription resumes; the caller advances it after handling an event.
    package var cursor: String?

    private let finder: DaemonFinder
    private let method: String
    private let params: (inout JSONWriter, String?) -> Void
    private let inputs: [Int32]
    private let outputs: [Int32]
    private var client: DaemonClient?
    /// Whether the first subscription was made.
    private var hasBegun = false
    private var attempts = 0
    private var backoff = ReconnectBackoff()
    /// The time of the next connection attempt.
    private var nextAttempt = MonotonicTime(nanoseconds: 0)

    /// A feed of the events to which a method subscribes. The closure writes the method's parameters, with the cursor.
    /// Waiting ends when an input is ready or an output has lost its reader.
    package init(
        _ finder: DaemonFinder, method: String, since cursor: String? = nil, inputs: [Int32] = [],
        outputs: [Int32] = [], params: @escaping (inout JSONWriter, String?) -> Void
    ) {
        self.finder = finder
        self.method = method
        self.cursor = cursor
        self.inputs = inputs
        self.outputs = outputs
        self.params = params
    }

    /// Waits for the next item. Throws if the first connection fails; later connections are retried.
    package func next(before deadline: MonotonicTime) throws(ClientError) -> Item {
        do throws(ClientError) {
            guard let client = try connected(deadline) else { return .nothing }
            switch try client.next(before: deadline, or: inputs, lossOf: outputs) {
            case .answer(let answer):
                hasBegun = true
                backoff = ReconnectBackoff()
                if cursor == nil { cursor = answer["cursor"]?.string }
                return .subscribed(answer)
            case .event(let event): return .event(event)
            case nil: return .nothing
            }
        } catch {
            switch error {
            case .disconnected, .unread: break
            case .unreachable, .refused, .invalidName, .protocolViolation: throw error
            }
            client = nil
            nextAttempt = MonotonicTime.read().advanced(milliseconds: backoff.next())
            // A daemon that is shutting down does not read the call: try once more, but not forever.
            guard hasBegun || attempts < 2 else { throw error }
            return hasBegun ? .lost : .nothing
        }
    }

    /// Returns the connection with the subscription, connecting if necessary; `nil` while there is none.
    private func connected(_ deadline: MonotonicTime) throws(ClientError) -> DaemonClient? {
        if let client { return client }
        guard let made = hasBegun ? try reconnect(deadline) : try connectFirst() else { return nil }
        try made.begin(method) { [cursor, params] in params(&$0, cursor) }
        client = made
        return made
    }

    private func connectFirst() throws(ClientError) -> DaemonClient {
        attempts += 1
        return try DaemonClient(finder)
    }

    /// Connects to a daemon if the time of the next attempt has come.
    private func reconnect(_ deadline: MonotonicTime) throws(ClientError) -> DaemonClient? {
        guard min(nextAttempt, deadline).waitForInput(inputs, orLossOf: outputs) == nil,
            nextAttempt <= MonotonicTime.read()
        else { return nil }
        nextAttempt = MonotonicTime.read().advanced(milliseconds: backoff.next())
        do throws(ClientError) {
            return try DaemonClient(DaemonFinder(location: finder.location, launcher: nil))
        } catch {
            guard case .unreachable = error else { throw error }
            return nil
        }
    }
}
