internal import CarpoolRPC

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
    /// Calls that have ended, and whose followers were not called yet.
    private var ended: [(id: RPCID, hasSucceeded: Bool)] = []
    private var isCalling = false

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

    /// Lets the calls go on that wait for this one, or skips them. To skip a call ends it, and so calls this again.
    func callDidEnd(_ id: RPCID) {
        guard !followers.isEmpty else { return }
        ended.append((id, succeeded == id))
        guard !isCalling else { return }
        isCalling = true
        while let (id, hasSucceeded) = ended.popLast() {
            for follower in followers.removeValue(forKey: id) ?? [] {
                if hasSucceeded { follower.proceed() } else { follower.skip() }
            }
        }
        isCalling = false
    }

    /// Forgets all: the connection is closed.
    func removeAll() { followers = [:] }
}
