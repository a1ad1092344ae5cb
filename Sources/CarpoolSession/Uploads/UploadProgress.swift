/// How much of a request's body has been taken by the network.
public struct UploadProgress: Equatable, Sendable {
    /// So many bytes.
    public var sentBytes: Int64
    /// Of so many; `nil` if nobody knows.
    public var totalBytes: Int64?

    /// Makes one from its parts.
    public init(sentBytes: Int64, totalBytes: Int64?) {
        self.sentBytes = sentBytes
        self.totalBytes = totalBytes
    }
}
