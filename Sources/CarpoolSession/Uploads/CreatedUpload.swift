public import CarpoolHTTP

/// A body that is ready to be sent.
public struct CreatedUpload {
    /// The source of the bytes (UP-01).
    public enum Kind: String, Sendable {
        /// Memory.
        case data
        /// Files, read while they are sent.
        case file
        /// A client or a program that sends pieces during the upload.
        case stream
    }

    /// The body.
    public let body: RequestBody
    /// The source of its bytes.
    public let kind: Kind

    /// Makes a created upload.
    public init(body: RequestBody, kind: Kind) {
        self.body = body
        self.kind = kind
    }

    /// A body that existed in advance.
    public init(_ body: RequestBody) {
        self.body = body
        kind =
            switch body {
            case .none, .bytes: .data
            case .file: .file
            case .source: .stream
            }
    }
}
