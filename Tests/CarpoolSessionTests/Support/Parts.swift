import CarpoolHTTP
@testable import CarpoolSession

/// An interceptor that keeps every call until the test answers it, or answers at once from its lists.
final class ScriptedInterceptor: RequestInterceptor {
    /// Names the field that it adds, with the number of the call as its value.
    let name: String
    /// Answers of the adapter, in order; with none left it adds its field.
    var adaptations: [Result<TransportRequest, SessionError>?] = []
    /// Answers of the retrier, in order; with none left it does not retry.
    var decisions: [RetryResult?] = []
    private(set) var adapted = 0
    private(set) var asked: [SessionError] = []
    /// Calls that have not been answered.
    private(set) var openAdaptations: [(Result<TransportRequest, SessionError>) -> Void] = []
    private(set) var openDecisions: [(RetryResult) -> Void] = []

    init(_ name: String = "X-A") { self.name = name }

    func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        adapted += 1
        if !adaptations.isEmpty {
            if let answer = adaptations.removeFirst() { completion(answer) } else { openAdaptations.append(completion) }
            return
        }
        var changed = urlRequest
        if let field = try? HTTPField(name: name, value: String(adapted)) { changed.fields.append(field) }
        completion(.success(changed))
    }

    func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        asked.append(error)
        guard !decisions.isEmpty else { return completion(.doNotRetry) }
        if let answer = decisions.removeFirst() { completion(answer) } else { openDecisions.append(completion) }
    }
}

/// A validator with an answer, or none yet.
final class ScriptedValidator: ResponseValidator {
    let name: String
    var error: SessionError?
    var isOpen = false
    private(set) var open: [(SessionError?) -> Void] = []

    init(_ name: String, error: SessionError? = nil) {
        self.name = name
        self.error = error
    }

    func validate(_ request: Request, completion: @escaping (SessionError?) -> Void) {
        if isOpen { open.append(completion) } else { completion(error) }
    }
}

/// A serializer that returns the body as text, or a failure that the test has set.
final class ScriptedSerializer: ResponseSerializer {
    let name: String
    let isTyped = true
    /// Failures, in order; with none left it succeeds.
    var failures: [SessionError] = []
    var isOpen = false
    private(set) var open: [(Result<SerializedValue, SessionError>) -> Void] = []
    private(set) var calls = 0

    init(_ name: String) { self.name = name }

    func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        calls += 1
        if isOpen { return open.append(completion) }
        if !failures.isEmpty { return completion(.failure(failures.removeFirst())) }
        completion(.success(.string(request.text ?? "")))
    }
}

/// Decides about a redirect when the test calls it.
final class OpenDecider: RedirectDecider {
    private(set) var open: [(Result<TransportRequest?, SessionError>) -> Void] = []

    func redirect(
        _ request: Request, after response: ResponseHead, to proposed: TransportRequest,
        completion: @escaping (Result<TransportRequest?, SessionError>) -> Void
    ) {
        open.append(completion)
    }
}

extension SessionError {
    /// A failure of a test's own.
    static let scripted = SessionError("scripted", "set by the test")
}
