/// A pending value of a request (AS-01). The request is sent as soon as the task is made, so that several can be active
/// before the first is awaited.
public final class DataTask<Value> {
    /// The request.
    public let request: Request
    private let serializer: TypedSerializer<Value>
    private let cancelsAutomatically: Bool
    private var answer: SerializedResponse?
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isFinished = false

    /// Adds the serializer to the request, or runs it on the existing body if the request is over (RL-17), and sends
    /// the request unless its session waits for ``Request/resume()``.
    init(_ request: Request, _ serializer: TypedSerializer<Value>, cancelsAutomatically: Bool) {
        self.request = request
        self.serializer = serializer
        self.cancelsAutomatically = cancelsAutomatically
        if request.isOver {
            request.serialize(by: [serializer]) { [self] in finish($0.first) }
        } else {
            let index = request.parameters.serializers.count
            request.parameters.serializers.append(serializer)
            request.whenFinished { [self] request in
                finish(request.results.indices.contains(index) ? request.results[index] : nil)
            }
            if request.session.configuration.startsRequestsImmediately { request.resume() }
        }
    }

    /// The complete response, once the request is over. Never throws; a task that is cancelled while it waits cancels
    /// the request, if the request was to be cancelled automatically (AS-02).
    public var response: DataResponse<Value> {
        get async {
            await finished()
            return DataResponse(
                request: request.urlRequest, response: request.response, body: request.body, attempts: request.attempts,
                timeline: request.timeline,
                serializationDurationMicroseconds: answer?.durationMicroseconds ?? 0, result: outcome)
        }
    }

    /// The value, or the failure.
    public var result: Result<Value, SessionError> {
        get async {
            await finished()
            return outcome
        }
    }

    /// The value.
    /// - Throws: the failure of the request.
    public var value: Value {
        get async throws(SessionError) { try await result.get() }
    }

    /// Cancels the request (AS-03).
    public func cancel() { request.cancel() }
    /// Starts or resumes the request.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }

    // MARK: The end

    private var outcome: Result<Value, SessionError> {
        if let value = serializer.value, case .success = answer?.result { return .success(value) }
        let own = answer?.error
        // If a retrier replaced a serializer's error, the request has the new one: that of the first serializer that
        // failed.
        let first = request.results.lazy.compactMap(\.error).first
        return .failure((own == nil || own?.name == first?.name ? request.error : own) ?? own ?? .inputFileNil)
    }

    private func finish(_ response: SerializedResponse?) {
        answer = response
        isFinished = true
        let waiting = waiting
        self.waiting = []
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the request is over. The actor is passed so that the closures capture it; otherwise they would run
    /// off the actor. Without the loop as the preferred executor the end would be delivered by Swift's own threads,
    /// which may all be busy.
    private func finished(on actor: isolated (any Actor)? = #isolation) async {
        guard !isFinished else { return }
        await withTaskExecutorPreference(request.session.scheduler.taskExecutor) {
            _ = actor
            await waitForEnd(on: actor)
        }
    }

    private func waitForEnd(on actor: isolated (any Actor)?) async {
        let cancellation = cancelsAutomatically ? Cancellation(request) : nil
        await withTaskCancellationHandler {
            _ = actor
            // The request may have ended before this line is reached.
            await withCheckedContinuation { isFinished ? $0.resume() : waiting.append($0) }
        } onCancel: {
            cancellation?.perform()
        }
    }
}

/// Passes the cancellation of a task to the request that it waits for.
///
/// `@unchecked Sendable` because a task may be cancelled on any thread, and the request is used on its loop only.
private final class Cancellation: @unchecked Sendable {
    private let request: Request

    init(_ request: Request) { self.request = request }

    func perform() { request.session.scheduler.post { [self] in request.cancel() } }
}
