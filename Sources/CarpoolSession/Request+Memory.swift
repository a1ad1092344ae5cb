internal import CarpoolHTTP

extension Request {
    /// What its record takes of memory, about: the body, unless it is in a file, and the head.
    public var recordMemoryBytes: Int {
        var bytes = 2_048 &+ (response?.fields.byteCount ?? 0)
        if case .memory(let body) = body.storage { bytes &+= body.count }
        return bytes
    }
}
