/// The progress of a request's body: the bytes taken by the network.
public struct UploadProgress: Equatable, Sendable {
    /// The bytes sent so far.
    public var sentBytes: Int64
    /// The length of the body; `nil` if it is unknown.
    public var totalBytes: Int64?

    /// Makes a progress value.
    public init(sentBytes: Int64, totalBytes: Int64?) {
        self.sentBytes = sentBytes
        self.totalBytes = totalBytes
    }
}
