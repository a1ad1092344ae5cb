internal import CarpoolHTTP

/// Accepts responses by their status (VA-03).
public struct StatusValidator: ResponseValidator, Sendable {
    /// The codes that are acceptable; with none, every response fails.
    public let acceptable: [ClosedRange<Int>]

    /// 200 to 299 (VA-02).
    public static let successful = StatusValidator([200...299])

    /// Accepts these codes and no others.
    public init(_ acceptable: [ClosedRange<Int>]) { self.acceptable = acceptable }

    /// `status`
    public var name: String { "status" }

    /// It looks at the head alone.
    public var needsHeadAlone: Bool { true }

    /// Fails with `response_validation_failed.unacceptable_status_code`. Without a response there is nothing to judge
    /// (VA-08).
    public func validate(_ request: Request, completion: @escaping (SessionError?) -> Void) {
        guard let status = request.response?.status else { return completion(nil) }
        let isAcceptable = acceptable.contains { $0.contains(status) }
        completion(isAcceptable ? nil : .unacceptableStatusCode(status))
    }
}
