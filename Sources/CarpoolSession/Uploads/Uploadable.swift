public import CarpoolHTTP

/// Makes the body of a request when it is about to be sent, once for every attempt (UP-03, UP-04): where the body is not there as it is.
public protocol Uploadable: AnyObject {
    /// Whether it can make the body again, after one that was sent in part.
    var canRepeat: Bool { get }
    /// How many bytes it keeps in memory to make the body of.
    var memoryBytes: Int { get }
    /// What `Content-Type` says of the body, whatever the request says itself; `nil` to leave that to the request (MP-02).
    var contentType: String? { get }
    /// Makes the body; calls back once, now or later, on the session's loop.
    func makeBody(for request: Request, completion: @escaping (Result<CreatedUpload, SessionError>) -> Void)
}

extension Uploadable {
    /// None, as where the body is asked for or read when it is sent.
    public var memoryBytes: Int { 0 }
}

/// A body that is ready to be sent.
public struct CreatedUpload {
    /// Where its bytes come from (UP-01).
    public enum Kind: String, Sendable {
        /// Memory.
        case data
        /// Files, as they are sent.
        case file
        /// Somebody who gives them meanwhile.
        case stream
    }

    /// The body.
    public let body: RequestBody
    /// Where its bytes come from.
    public let kind: Kind

    /// Makes one from its parts.
    public init(body: RequestBody, kind: Kind) {
        self.body = body
        self.kind = kind
    }

    /// A body that was there as it is.
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
