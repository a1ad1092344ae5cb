internal import CarpoolRPC
internal import CarpoolSystem

/// The calls of a connection that wait for the end of others: the parameter `after` of `request.perform`.
///
/// A client that makes requests one after the other sends the next call before it has the last answer. The next request
/// then begins at once when the last one has succeeded, without a round trip to the client in between.
final class CallSequence {
    /// What happens to a call that waits.
    struct Follower {
        let proceed: () -> Void
        let skip: () -> Void
    }

    private var followers: [RPCID: [Follower]] = [:]
    /// The last call whose request has succeeded.
    private var succeeded: RPCID?
    /// Followers of calls that have ended, the next one last.
    private var due: [(follower: Follower, hasSucceeded: Bool)] = []
    private var isCalling = false

    /// Runs the rest of many followers in slices.
    var runInSlices: (any SlicedWork) -> Void = { while $0.runSlice() {} }

    /// Whether the last call whose request has succeeded is this one.
    func hasSucceeded(_ id: RPCID) -> Bool { succeeded == id }

    /// Adds a call that waits for another one that is under way.
    func add(_ follower: Follower, after id: RPCID) {
        // A success so far was that of an earlier call with this id.
        if succeeded == id { succeeded = nil }
        followers[id, default: []].append(follower)
    }

    /// Notes whether the request of a call has succeeded, before the call is answered.
    func note(_ hasSucceeded: Bool, of id: RPCID) {
        if hasSucceeded { succeeded = id } else if succeeded == id { succeeded = nil }
    }

    /// Lets the calls go on that wait for this one, or skips them: the first at once, the others in slices. To skip a
    /// call ends it, and so calls this again.
    func callDidEnd(_ id: RPCID) {
        guard let waiting = followers.removeValue(forKey: id) else { return }
        let hasSucceeded = succeeded == id
        due += waiting.reversed().map { ($0, hasSucceeded) }
        guard !isCalling else { return }
        isCalling = true
        callNext()
        if due.isEmpty { isCalling = false } else { runInSlices(self) }
    }

    private func callNext() {
        guard let (follower, hasSucceeded) = due.popLast() else { return }
        if hasSucceeded { follower.proceed() } else { follower.skip() }
    }

    /// Forgets all: the connection is closed.
    func removeAll() {
        followers = [:]
        due = []
    }
}

extension CallSequence: SlicedWork {
    /// Calls followers of calls that have ended. Returns whether there are more.
    func runSlice() -> Bool {
        let slice = TimeSlice(microseconds: 500)
        repeat { callNext() } while !due.isEmpty && !slice.isOver
        isCalling = !due.isEmpty
        return isCalling
    }
}
