internal import CarpoolJSON
internal import CarpoolRPC

/// A callback as the caller describes it: `{"name", "deadline_ms", "on_failure", "handles"}`.
struct CallbackSpecification: Equatable {
    /// What happens when no answer comes.
    enum Fallback: String {
        /// The request fails; an interceptor's retry question is answered with no.
        case fail
        /// The request stays as it is, and is not sent again.
        case skip
        /// Without an answer to `callback.adapt` the request fails, and its retriers decide; without one to
        /// `callback.retry` it is retried, at most twice.
        case retry
        /// The redirect is not followed.
        case doNotFollow = "do_not_follow"
        /// The redirect is followed as proposed.
        case follow
        /// The response is acceptable.
        case pass
        /// A download goes to the spool.
        case spool
        /// A challenge is answered as without a callback.
        case performDefault = "default"
        /// A challenge is not answered.
        case reject
        /// A response is stored, or it is not.
        case cache
        case doNotCache = "do_not_cache"
        /// There is no value, or the bytes stay as they are.
        case none
    }

    /// The client's own name for what it does.
    let name: String
    /// The time for an answer.
    let deadlineMilliseconds: Int
    /// What happens when no answer comes.
    let fallback: Fallback
    /// Whether an interceptor is asked for changes, and whether about retries.
    let adapts: Bool
    let retries: Bool

    static let standardDeadlineMilliseconds = 10_000

    /// Reads an object that has passed one of the callbacks' schemas.
    /// - Parameters:
    ///   - standard: what happens when no answer comes and the caller does not say.
    ///   - path: the object's place, for refusals.
    init(_ json: JSON, standard: Fallback, path: String) throws(RPCError) {
        let name = json["name"]?.string ?? ""
        guard !name.isEmpty else {
            throw .invalidParams(path: "\(path).name", message: "is empty", expected: "1 to 64 bytes")
        }
        self.name = name
        deadlineMilliseconds = json["deadline_ms"]?.int ?? CallbackSpecification.standardDeadlineMilliseconds
        fallback = json["on_failure"]?.string.flatMap(Fallback.init(rawValue:)) ?? standard
        let handles = json["handles"]
        let handled = (0..<(handles?.count ?? 0)).compactMap { handles?[index: $0]?.string }
        adapts = handled.isEmpty || handled.contains("adapt")
        retries = handled.isEmpty || handled.contains("retry")
    }
}
