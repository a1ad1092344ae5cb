internal import CarpoolHTTP
internal import CarpoolSystem

/// The input of a retry policy: the facts of a failure.
public struct FailedAttempt: Sendable {
    /// How often the request was retried already.
    public var retryCount: Int
    /// The method that was sent, as the adapters left it.
    public var method: String
    /// The status of the last response, whatever failed afterwards (RT-10); `nil` if there was no response.
    public var status: Int?
    /// The URL error code of the failure, or of the failure that it wraps (RT-08).
    public var errorCode: Int?
    /// The value of the response's `Retry-After`.
    public var retryAfter: String?
    /// The wall clock, in seconds since 1970.
    public var now: Int64 = 0
    /// The time since the start of the request, in milliseconds.
    public var elapsedMilliseconds = 0
    /// A random number from 0 up to 1.
    public var chance = 0.0

    /// Makes one from its parts.
    public init(retryCount: Int, method: String, status: Int? = nil, errorCode: Int? = nil, retryAfter: String? = nil) {
        self.retryCount = retryCount
        self.method = method
        self.status = status
        self.errorCode = errorCode
        self.retryAfter = retryAfter
    }

    /// The facts of a request that has just failed.
    init(of request: Request, dueTo error: SessionError) {
        let method = request.urlRequest?.method ?? request.parameters.method
        self.init(
            retryCount: request.retryCount, method: method.rawValue, status: request.response?.status,
            errorCode: error.urlErrorCode ?? error.underlying?.urlErrorCode,
            retryAfter: request.response?.fields.first("retry-after"))
        now = WallClock.microseconds() / 1_000_000
        elapsedMilliseconds = request.elapsedMilliseconds
        chance = Double.random(in: 0..<1)
    }
}
