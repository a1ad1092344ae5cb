package import CarpoolJSON
package import CarpoolSystem

/// The events of one subscription, which is made anew whenever the daemon has been away.
package final class EventFeed {
    /// What comes next.
    package enum Item {
        /// The subscription stands, for the first time or again: the answer of the call.
        case begun(JSON)
        /// An event, as it came.
        case event(JSON)
        /// The daemon has gone. It is waited for; it is not started, since somebody may have ended it on purpose.
        case lost
        /// The time is over, or one of the other descriptors wants attention.
        case nothing
    }

    /// Where the next subscription goes on from; the caller moves it on when it has dealt with an event.
    package var cursor: String?

    private let finder: DaemonFinder
    private let method: String
    private let params: (inout JSONWriter, String?) -> Void
    private let inputs: [Int32]
    private let outputs: [Int32]
    private var client: Client?
    private var hasBegun = false
    private var attempts = 0
    private var patience = Patience()
    /// When the daemon that has gone is looked for again.
    private var nextLook = MonotonicTime(nanoseconds: 0)

    /// A feed of what a method subscribes to. The closure writes the method's parameters, given the cursor. Readiness of the inputs and the
    /// loss of the outputs' readers interrupt the waiting.
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

    /// Waits for what comes next. The first connection is made, or else fails, as that of any command; later ones are waited for.
    package func next(before deadline: MonotonicTime) throws(ClientError) -> Item {
        do throws(ClientError) {
            guard let client = try connected(deadline) else { return .nothing }
            switch try client.next(before: deadline, or: inputs, lossOf: outputs) {
            case .answer(let answer):
                hasBegun = true
                patience = Patience()
                if cursor == nil { cursor = answer["cursor"]?.string }
                return .begun(answer)
            case .event(let event): return .event(event)
            case nil: return .nothing
            }
        } catch {
            guard case .disconnected = error else { throw error }
            client = nil
            nextLook = MonotonicTime.read().advanced(milliseconds: patience.next())
            // A daemon that ends just now has not read our call; but one that never does is no daemon to wait for.
            guard hasBegun || attempts < 2 else { throw error }
            return hasBegun ? .lost : .nothing
        }
    }

    /// The connection, on which the subscription is under way; `nil` while there is none.
    private func connected(_ deadline: MonotonicTime) throws(ClientError) -> Client? {
        if let client { return client }
        guard let made = hasBegun ? try again(deadline) : try first() else { return nil }
        try made.begin(method) { [cursor, params] in params(&$0, cursor) }
        client = made
        return made
    }

    private func first() throws(ClientError) -> Client {
        attempts &+= 1
        return try Client(finder)
    }

    /// Looks for a daemon when it is time to.
    private func again(_ deadline: MonotonicTime) throws(ClientError) -> Client? {
        guard min(nextLook, deadline).waitForInput(inputs, orLossOf: outputs) == nil, nextLook <= MonotonicTime.read()
        else { return nil }
        nextLook = MonotonicTime.read().advanced(milliseconds: patience.next())
        do throws(ClientError) {
            return try Client(DaemonFinder(location: finder.location, launcher: nil))
        } catch {
            guard case .unreachable = error else { throw error }
            return nil
        }
    }
}
